// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Made-up secrets and names in the places where logs have them: each is hidden, and each is seen without its rule.
#include <algorithm>
#include <ostream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/report/input/reportinput.h"
#include "core/report/redact/redaction.h"
#include "core/report/redact/redactrules.h"
#include "core/report/reportfiles.h"
#include "handmade.h"
#include "tests/core/session/temporaryfolder.h"

using namespace nanscope;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

namespace {

// Forges scan what is pushed to them, so that no key may stand here in one piece: each has a ^ in its prefix, which is
// taken out, and as many characters as its form asks for.
std::string cycled(std::string_view characters, std::size_t count)
{
    std::string text;
    while (text.size() < count) {
        text += characters.substr(0, count - text.size());
    }
    return text;
}

std::string mixed(std::size_t count)
{
    return cycled("q7Xv2LmB9sTzR4kWcN8yHdJ3pGfA6uEoK1iQ5wVxZbM0tYrS", count);
}

std::string hex(std::size_t count)
{
    return cycled("3f9a1c7e5b2d8046e4c1907bd5fa3862", count);
}

std::string upper(std::size_t count)
{
    return cycled("Q7XV2LMB9STZR4KWCN8YHDJ3PGFA6UEOK1IQ5WVXZBM0TYRS", count);
}

struct Needle
{
    std::string rule;
    std::string line; ///< % is the secret
    std::string secret;
    std::vector<std::string> also = {}; ///< every other rule that catches it alone

    std::string text() const
    {
        auto whole = line;
        return whole.replace(whole.find('%'), 1, secret);
    }
    std::set<std::string, std::less<>> rules() const
    {
        std::set<std::string, std::less<>> all(also.begin(), also.end());
        all.insert(rule);
        return all;
    }
};

void PrintTo(const Needle& needle, std::ostream* stream)
{
    *stream << needle.rule << ": " << needle.text();
}

using Needles = std::vector<Needle>;

const std::string byChance(report::suspicionRule);

Needles keysOfAForm()
{
    const std::string jwt = "ey^JhbGciOiJIUzI1NiJ9.ey^JzdWIiOiJub2JvZHkifQ." + mixed(43);
    return {
        {"aws-id", "using % for the bucket", "AK^IA" + upper(16)},
        {"aws-id", "using % for a while", "AS^IA" + upper(16)},
        {"google-key", "maps key in use: %", "AI^za" + mixed(35), {byChance}},
        {"google-oauth", "refreshed %", "ya^29." + mixed(60), {byChance}},
        {"google-oauth", "the client has %", "GOC^SPX-" + mixed(28), {byChance}},
        {"google-oauth", "the refresher has %", "1/^/0" + mixed(40), {byChance}},
        {"azure-secret", "app signs in by %", "abc^8Q~" + mixed(34), {byChance}},
        {"digitalocean", "droplet made by %", "dop^_v1_" + hex(64), {byChance}},
        {"digitalocean", "droplet read by %", "doo^_v1_" + hex(64), {byChance}},
        {"databricks", "cluster by %", "da^pi" + hex(32), {byChance}},
        {"vault", "vault says % is near its end", "hv^s." + mixed(24), {byChance}},
        {"vault", "batch % ended", "hv^b." + mixed(60), {byChance}},
        {"terraform", "plan by %", mixed(14) + ".atlas^v1." + mixed(60), {byChance}},
        {"pulumi", "up by %", "pu^l-" + hex(40), {byChance}},
        {"doppler", "env by %", "dp.^pt." + mixed(43), {byChance}},
        {"tailscale", "node joins by %", "ts^key-auth-" + mixed(17) + "-" + mixed(32), {byChance}},
        {"age", "sops reads %", "AGE-SECRET-^KEY-1" + upper(58), {byChance}},
        {"planetscale", "branch by %", "pscale^_tkn_" + mixed(40), {byChance}},
        {"supabase", "rows by %", "sb^p_" + hex(40), {byChance}},
        {"heroku", "dyno by %", "HR^KU-" + mixed(36), {byChance}},
        {"fly", "machine by %", "fm^2_" + mixed(60), {byChance}},
        {"github", "pulled by %", "gh^p_" + mixed(36), {byChance}},
        {"github", "pushed by %", "gh^o_" + mixed(36), {byChance}},
        {"github", "runner holds %", "gh^s_" + mixed(36), {byChance}},
        {"github-fine", "cloned by %", "github^_pat_" + mixed(22) + "_" + mixed(59), {byChance}},
        {"gitlab", "pipeline by %", "gl^pat-" + mixed(20), {byChance}},
        {"gitlab", "deployed by %", "gl^dt-" + mixed(20), {byChance}},
        {"gitlab", "runner made by %", "GR^1348941" + mixed(20), {byChance}},
        {"npm", "published by %", "np^m_" + mixed(36), {byChance}},
        {"pypi", "twine uploads by %", "py^pi-AgE" + mixed(80), {byChance}},
        {"rubygems", "gem pushed by %", "ruby^gems_" + hex(48), {byChance}},
        {"docker", "image pulled by %", "dckr^_pat_" + mixed(27), {byChance}},
        {"jfrog", "wheel from the mirror by %", "AK^Cp" + mixed(69), {byChance}},
        {"atlassian", "issue filed by %", "ATA^TT3xFfGF0" + mixed(60), {byChance}},
        {"postman", "collection by %", "PM^AK-" + hex(24) + "-" + hex(34), {byChance}},
        {"huggingface", "login % ok", "h^f_" + mixed(34), {byChance}},
        {"huggingface", "org login % ok", "api^_org_" + mixed(34), {byChance}},
        {"anthropic", "judged by %", "sk-^ant-api03-" + mixed(93), {"openai", byChance}},
        {"openai", "scored by %", "sk-^proj-" + mixed(48), {byChance}},
        {"openai", "graded by %", "sk^-" + mixed(48), {byChance}},
        {"openai", "routed by %", "sk-^or-v1-" + hex(64), {byChance}},
        {"langsmith", "traced by %", "ls^v2_pt_" + hex(32) + "_" + hex(10), {byChance}},
        {"groq", "inferred by %", "gs^k_" + mixed(52), {byChance}},
        {"xai", "answered by %", "xa^i-" + mixed(80), {byChance}},
        {"perplexity", "asked by %", "pp^lx-" + mixed(48), {byChance}},
        {"fireworks", "served by %", "f^w_" + mixed(24), {byChance}},
        {"together", "tuned by %", "tg^p_v1_" + mixed(43), {byChance}},
        {"replicate", "predicted by %", "r^8_" + mixed(37), {byChance}},
        {"runpod", "pod by %", "rp^a_" + upper(40), {byChance}},
        {"lambda", "instance by %", "secret^_train_" + hex(32) + "." + mixed(32), {byChance}},
        {"modal", "app by %", "a^k-" + mixed(22), {byChance}},
        {"modal", "app signed by %", "a^s-" + mixed(22), {byChance}},
        {"ngc", "container by %", "nv^api-" + mixed(64), {byChance}},
        {"pinecone", "index by %", "pc^sk_" + mixed(60), {byChance}},
        {"kaggle-token", "dataset by %", "KG^AT_" + mixed(32), {byChance}},
        {"wandb", "synced by %", "wandb^_v1_" + mixed(60), {byChance}},
        {"wandb", "synced to our host by %", "loc^al-" + hex(40), {byChance}},
        {"neptune", "run made by %", "eyJh^cGlf" + mixed(60) + "==", {byChance}},
        {"slack", "posted by %", "xo^xb-123456789012-123456789012-" + mixed(24), {byChance}},
        {"slack", "posted for %", "xo^xp-123456789012-123456789012-" + mixed(32), {byChance}},
        {"slack", "listening by %", "xa^pp-1-A01234-123456789-" + hex(64), {byChance}},
        {"discord", "bot is %", "M" + mixed(23) + ".^Gx1y2z." + mixed(27), {byChance}},
        {"telegram", "bot is %", "123456789:^AA" + mixed(33), {byChance}},
        {"sendgrid", "mailed by %", "S^G." + mixed(22) + "." + mixed(43), {byChance}},
        {"twilio", "texted by %", "S^K" + hex(32), {byChance}},
        {"twilio", "texted for %", "A^C" + hex(32), {byChance}},
        {"mailgun", "mailed with %", "ke^y-" + hex(32), {byChance}},
        {"mailchimp", "listed by %", hex(32) + "-u^s12", {byChance}},
        {"stripe", "paid by %", "sk^_live_" + mixed(24), {byChance}},
        {"stripe", "hooked by %", "wh^sec_" + mixed(32), {byChance}},
        {"shopify", "shop by %", "shp^at_" + hex(32), {byChance}},
        {"notion", "page by %", "nt^n_" + mixed(46), {byChance}},
        {"linear", "ticket by %", "lin^_api_" + mixed(40), {byChance}},
        {"grafana", "panel by %", "gl^sa_" + mixed(32) + "_" + hex(8), {byChance}},
        {"newrelic", "metric by %", "NR^AK-" + upper(27), {byChance}},
        {"sentry", "release by %", "snt^rys_" + mixed(60), {byChance}},
        {"onepassword", "item by %", "ops^_eyJ" + mixed(80), {byChance}},
        {"dropbox", "file by %", "s^l." + mixed(130), {byChance}},
        {"jwt", "session is %", jwt, {byChance}},
        {"jwt", "mounted: %,", jwt, {byChance}},
        {"pem", "read % ok",
            "-----BEGIN RSA ^PRIVATE KEY-----\n" + mixed(64) + "\n" + mixed(60)
                + "\nq==\n-----END RSA ^PRIVATE KEY-----",
            {byChance}},
        {"pem", "agent has %", "-----BEGIN OPENSSH ^PRIVATE KEY-----\n" + mixed(70) + "\n" + mixed(70), {byChance}},
        {"pem", R"({"type": "service_account", "body": "%\n"})",
            "-----BEGIN ^PRIVATE KEY-----\\n" + mixed(64) + "\\n" + mixed(28) + "\\n-----END ^PRIVATE KEY-----",
            {byChance}},
    };
}

Needles secretsOfAPlace()
{
    const auto token = mixed(24);
    return {
        {"aws-secret", "aws configure set aws_secret_access_key %", mixed(20) + "/" + mixed(19), {byChance, "setting"}},
        {"aws-secret", "aws_secret_access_key = %", mixed(18) + "+" + mixed(21), {"pair", byChance}},
        {"google-key-id", R"("private_key_id": "%",)", hex(40), {byChance}},
        {"azure-connection", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=%;EndpointSuffix=y",
            mixed(86) + "==", {"pair", byChance}},
        {"azure-connection", "Endpoint=sb://x;SharedAccessSignature=%", "sr=x&sig=" + mixed(43), {"query", byChance}},
        {"docker-auth", R"({"auths": {"https://index.docker.io/v1/": {"auth": "%"}}})", "Ym9iOmh1^bnRlcjI=", {"pair"}},
        {"kaggle", R"({"username":"","key":"%"})", hex(32), {byChance}},
        {"wandb-login", "wandb login %", hex(40), {byChance}},
        {"wandb-login", "wandb login --relogin %", hex(40), {byChance}},
        {"wandb-login", "wandb.login(key=\"%\")", hex(40), {byChance}},
        {"webhook", "https://hooks.slack^.com/services/%", "T01234567/B01234567/" + mixed(24), {byChance}},
        {"webhook", "https://discord^.com/api/webhooks/%", "123456789012345678/" + mixed(68), {byChance}},
        {"webhook", "https://x.webhook.office^.com/webhookb2/%", hex(32) + "/IncomingWebhook/" + hex(32), {byChance}},
        {"authorization", "Authorization: Basic %", "Ym9iOmh1^bnRlcjI4"},
        {"authorization", "'authorization': 'token %'", mixed(24), {"pair", byChance}},
        {"authorization", "Proxy-Authorization: Digest %", "username=bob, response=" + hex(32), {"user-field"}},
        {"bearer", "curl -H 'X: Bearer %'", token, {byChance}},
        {"bearer", "bearer % was refused", hex(20)},
        {"cookie", "Set-Cookie: %", "session=" + mixed(24) + "; Path=/; HttpOnly", {byChance}},
        {"cookie", "\"Cookie\": \"%\"", "sid=4711; theme=dark"},
        {"query", "GET /v1/runs?token=% HTTP/1.1", mixed(18), {"pair"}},
        {"query", "fetch blob?sv=2023&sig=%", "Ab3%2Fd9Zq1%2BxY7%3D"},
        {"query", "GET x.bin?X-Amz-Signature=%&X-Amz-Expires=60", hex(18)},
        {"query", "GET /models?key=%", mixed(18)},
        {"query", "open /lab?access_token=%#top", mixed(18), {"pair"}},
        {"netrc", "  password %", "hunter2-and-more"},
        {"netrc", "machine api.wandb.ai login user password %", hex(40), {byChance}},
        {"netrc-user", "machine git.lab login % account x", "alice"},
        {"curl-user", "curl -u % https://git.lab/x", "alice:hunter2"},
        {"curl-user", "curl --proxy-user % https://git.lab/x", "alice:hunter2"},
        {"password-option", "sshpass -p % rsync x", "hunter2!"},
        {"password-option", "docker login -u x -p % registry", "hunter2!"},
        {"url-password", "postgresql://%@db/optuna", "alice:hun/ter@2"},
        {"url-password", "redis://%@cache:6379/0", ":hunter2", {"url-user", "user-at-host"}},
        {"url-user", "git clone https://%@forge/x.git", "alice-b", {"user-at-host"}},
    };
}

Needles secretsWithAName()
{
    return {
        {"pair", "export WANDB_API_KEY=%", hex(40), {byChance}},
        {"pair", "wandb_api_key: %", hex(40), {byChance}},
        {"pair", "wandbApiKey: %", "k3y-of-mine"},
        {"pair", R"({"api_key": "%", "lr": 0.1})", "k3y-of-mine"},
        {"pair", R"({'api_key': '%', 'lr': 0.1})", "k3y-of-mine"},
        {"pair", R"(\"api_key\": \"%\", \"lr\": 1)", "k3y-of-mine"},
        {"pair", "password=%", "hunter2"},
        {"pair", "Password: %", "hunter2"},
        {"pair", "PGPASSWORD=%", "hunter2"},
        {"pair", "password=%", "mypassword"},
        {"pair", "passwd = \"%\"", "two words"},
        {"pair", "db_passphrase=%", "correcthorse"},
        {"pair", "db_pwd: %", "correcthorse"},
        {"pair", "SECRET=%", "correcthorse"},
        {"pair", "client_secret = '%'", "correcthorse"},
        {"pair", "clientSecret: '%'", "correcthorse"},
        {"pair", "DJANGO_SECRET_KEY=%", "a,b&c-d"},
        {"pair", "OPENAI_KEY=%", "k3y-of-mine"},
        {"pair", "COMET_API_KEY=%", mixed(25), {byChance}},
        {"pair", "MISTRAL_API_KEY=%", mixed(32), {byChance}},
        {"pair", "NEPTUNE_API_TOKEN=%", "t0k-of-mine"},
        {"pair", "MLFLOW_TRACKING_PASSWORD=%", "correcthorse"},
        {"pair", "MLFLOW_TRACKING_TOKEN=%", "correcthorse"},
        {"pair", "SNOWFLAKE_PASSWORD: %", "correcthorse"},
        {"pair", "aws_session_token=%", "IQoJb3Jp^Z2lu"},
        {"pair", "SecretAccessKey: %", "correcthorse"},
        {"pair", "X-Api-Key: %", "correcthorse"},
        {"pair", "x-goog-api-key: %", "correcthorse"},
        {"pair", "-H 'X-Auth-Token: %'", "correcthorse"},
        {"pair", "api key: %", "k3y-of-mine"},
        {"pair", "Access Key = %", "k3y-of-mine"},
        {"pair", "token=%", "t0k-of-mine-1"},
        {"pair", "token: %", "t0k-of-mine-1"},
        {"pair", "Namespace(hf_token='%', lr=0.1)", "correcthorse"},
        {"pair", "Namespace(lr=0.1, hf_token=%)", "correcthorse"},
        {"pair", "os.environ[\"HF_TOKEN\"] = \"%\"", "correcthorse"},
        {"pair", "$env:HF_TOKEN = \"%\"", "correcthorse"},
        {"pair", "environ({'HF_TOKEN': '%'})", "correcthorse"},
        {"pair", "('HF_TOKEN', '%')", "correcthorse"},
        {"pair", "--token=%", "t0k-of-mine-1"},
        {"pair", "++trainer.hf_token=%", "correcthorse"},
        {"pair", "hub.auth_token => %", "correcthorse"},
        {"pair", "private-key := %", "correcthorse"},
        {"pair", "credentials: %", "us3r-and-more-1"},
        {"pair", "jwt: %", "us3r-and-more-1"},
        {"pair", "LAMBDA_API_KEY: b'%'", "correcthorse"},
        {"pair", "KAGGLE_KEY=%", hex(32), {byChance}},
        {"pair", "hf.token.secret=%", "correcthorse"},
        {"pair", "POSTGRES_PASSWORD=%", "20231105"},
        {"phrase", "password: %", "correct horse battery", {"pair"}},
        {"option", "train.py --hf_token % --lr 0.1", "correcthorse"},
        {"option", "train.py --api-key % --lr 0.1", "correcthorse"},
        {"option", "huggingface-cli login --token %", "t0k-of-mine-1"},
        {"option", "x --password '%' y", "two words"},
        {"option", R"(["train.py", "--hf_token", "%"])", "correcthorse", {"pair"}},
        {"setting", "setenv WANDB_API_KEY %", "correcthorse"},
        {"setting", "ENV HF_TOKEN %", "correcthorse"},
        {"setting", "comet config set api_key %", "correcthorse"},
        {"element", "<apiKey>%</apiKey>", "correcthorse"},
        {"element", "<password>%</password>", "correcthorse"},
    };
}

Needles names()
{
    return {
        {"email", "mail % now", "alice.b@uni-x.example.org", {"domain", "user-at-host"}},
        {"user-at-address", "ssh-add %", "alice@10.1.2.3", {"address"}},
        {"user-at-host", "started by % at noon", "alice@trainbox"},
        {"prompt", "%:~$ torchrun", "alice@n1"},
        {"logged-in", "wandb: Currently logged in as: %", "alice"},
        {"wandb-user", "view at wandb.ai/%/muon", "alice"},
        {"id", "uid=1000(%) gid=100", "alice"},
        {"groups", "groups=1000(%),4(adm)", "alice"},
        {"listing", "-rw-r--r-- 1 % lab 4096 Nov 21 x.pt", "alice"},
        {"windows-home", R"(C:\Users\%\x)", "alice"},
        {"home", "/home/%/x", "alice"},
        {"home", "/mnt/home/%/x", "alice"},
        {"home", "/gpfs/home/%/x", "alice", {"storage"}},
        {"home", "/nfs/home/%/x", "alice", {"storage"}},
        {"home", "/fsx/users/%/x", "alice", {"storage"}},
        {"home", "/data/users/%/x", "alice"},
        {"home", "/linkhome/%/x", "alice"},
        {"storage", "/fsx/%/ckpt", "alice"},
        {"storage", "/gpfs/u/%/ckpt", "alice"},
        {"storage", "/lustre/fs1/work/%/ckpt", "alice"},
        {"storage", "/scratch/%/ckpt", "alice"},
        {"storage", "/lustre/%", "alice"},
        {"storage-below", "/gpfs/scratch/lab/%/x", "alice", {"storage-deeper"}},
        {"storage-deeper", "/gpfs/scratch/rech/lab/%/x", "alice7"},
        {"root", "cd % && ls", "/root"},
        {"tilde", "cat %/x", "~alice"},
        {"user-variable", "USER=%", "alice", {"user-field"}},
        {"user-variable", "SLURM_JOB_USER=%", "alice"},
        {"user-variable", "SLURM_JOB_ACCOUNT=%", "nlp-lab"},
        {"user-variable", "PGUSER=%", "alice"},
        {"user-field", R"({"user": "%"})", "alice"},
        {"user-field", "username: %", "alice"},
        {"slurm-folder", "SLURM_SUBMIT_DIR=%", "/projects/nlp"},
        {"host-variable", "SLURM_SUBMIT_HOST=%", "login"},
        {"host-variable", "SLURM_JOB_NODELIST=%", "trainbox,evalbox"},
        {"host-variable", "\"hostname\": \"%\"", "trainbox"},
        {"host-option", "--master-addr % t.py", "trainbox"},
        {"mpi-hosts", "mpirun -np 8 -H % python t.py", "boxa:4,boxb:4"},
        {"ssh", "ssh -p 22 % nvidia-smi", "gpu01"},
        {"world-info", "launch --world_info=% --master_port=1", "eyJ0cmFpbmJveCI6"},
        {"torchrun-node", "The node '%_41234_0' has joined", "trainbox"},
        {"connection", "failed to connect to [%]:29500", "trainbox"},
        {"slurm-message", "slurmstepd: error: *** JOB 123 ON % CANCELLED", "box17"},
        {"slurm-message", "srun: error: %: task 3: Exited", "box17"},
        {"nccl-line", "%:411:502 [0] NCCL INFO x", "trainbox"},
        {"syslog-line", "Nov 21 04:12:58 % kernel: NVRM", "trainbox"},
        {"journal-line", "2026-11-21T04:13:16+00:00 % kernel: NVRM", "trainbox"},
        {"node-line", "%: step 3", "node-12"},
        {"host-url", "tcp://%:29500", "trainbox"},
        {"share", R"(copy \\%\share\x)", "filer"},
        {"tfevents", "events.out.tfevents.1664284826.%.7852.0.v2", "DESKTOP-27"},
        {"ec2", "rank 3 on %", "ip-10-0-3-17"},
        {"private-domain", "on % at", "gpu4.ai.internal"},
        {"domain", "rank 3 on % died", "node17.cluster.example.org", {"private-domain"}},
        {"domain", "see https://%/issues/3", "git.mycompany.com"},
        {"domain", "scheduler at %.", "login.lrz.de"},
        {"node-list", "nodes % are up", "gpu[01-16]"},
        {"node-list", "nodes % are up", "node[3,5-7]"},
        {"address", "peer %:29500", "10.12.0.3"},
        {"address-port", "a=% b", "10.12.0.3:1"},
        {"address-variable", "MASTER_ADDR=%", "10.1.2.3"},
        {"address6", "% up", "fe80::1ff:fe23:4567:890a"},
    };
}

Needles nobodysChoice()
{
    return {
        {byChance, "somewhere % stands", mixed(40)},
        {byChance, "somewhere % stands", mixed(24)},
        {byChance, "somewhere % stands", hex(40)},
        {byChance, "somewhere % stands", cycled("x7k2m9q4w8z3p6r5t1v0", 30)},
        {byChance, "somewhere % stands", mixed(20) + "/" + mixed(9) + "+" + mixed(9)},
        {byChance, "https://files/d/%/x", mixed(24)},
    };
}

Needles needles()
{
    Needles all;
    for (const auto part : {keysOfAForm, secretsOfAPlace, secretsWithAName, names, nobodysChoice}) {
        std::ranges::move(part(), std::back_inserter(all));
    }
    for (auto& needle : all) {
        std::erase(needle.secret, '^');
        std::erase(needle.line, '^');
    }
    return all;
}

/// What a log that holds the text becomes.
std::string redactedWithout(const std::string& text, const std::set<std::string, std::less<>>& rules)
{
    report::Redactor redactor(true, {}, rules);
    redactor.learn(text);
    return redactor(text);
}

report::ReportInput inputWith(const std::string& text)
{
    auto input = handmade::reportInput();
    input.run.events[0].text = text;
    input.commandLine = "nanscope report x";
    return input;
}

/// With a home that is in no needle.
class ANeedle : public testing::TestWithParam<Needle>
{
    handmade::HomeFolder m_home {"/nobody"};
};

} // namespace

TEST_P(ANeedle, IsHiddenWhole)
{
    const auto& secret = GetParam().secret;
    const auto text = report::redact(GetParam().text());
    EXPECT_THAT(text, Not(HasSubstr(secret)));
    constexpr std::size_t telling = 10;
    for (std::size_t at = 0; at + telling < secret.size() && GetParam().rule != "pem"; ++at) {
        EXPECT_THAT(text, Not(HasSubstr(secret.substr(at, telling))));
    }
}

TEST_P(ANeedle, IsSeenWithoutItsRules)
{
    const auto rules = GetParam().rules();
    EXPECT_THAT(redactedWithout(GetParam().text(), rules), HasSubstr(GetParam().secret));
}

TEST_P(ANeedle, IsHiddenByEachOfItsRulesAlone)
{
    for (const auto& rule : GetParam().rules()) {
        auto others = GetParam().rules();
        others.erase(rule);
        EXPECT_THAT(redactedWithout(GetParam().text(), others), Not(HasSubstr(GetParam().secret))) << rule;
    }
}

TEST_P(ANeedle, IsInNoFaceOfTheReport)
{
    const auto input = inputWith(GetParam().text());
    report::ReportOptions options;
    options.figures = false;
    for (const auto& text : {report::markdownReport(input, options), report::htmlReport(input, options),
             report::jsonReport(input, options)}) {
        EXPECT_THAT(text, Not(HasSubstr(GetParam().secret)));
    }
}

INSTANTIATE_TEST_SUITE_P(Of, ANeedle, testing::ValuesIn(needles()), [](const auto& info) {
    auto name = info.param.rule + "_" + std::to_string(info.index);
    std::ranges::replace(name, '-', '_');
    return name;
});

TEST(Needles, NoTwoRulesHaveOneId)
{
    std::set<std::string> ids;
    for (const auto& rule : report::ruleTexts()) {
        EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    }
}

TEST(Needles, EveryRuleHasOne)
{
    std::set<std::string> found;
    for (const auto& needle : needles()) {
        found.insert(needle.rule);
    }
    for (const auto& rule : report::ruleTexts()) {
        EXPECT_THAT(found, Contains(rule.id));
    }
}

TEST(Needles, EveryHintMatchesWhereItsPatternDoes)
{
    for (const auto& rule : report::redactionRules()) {
        EXPECT_TRUE(rule.pattern.ok()) << rule.text.id << rule.pattern.error();
        for (const auto& needle : needles()) {
            if (!rule.wholeText && RE2::PartialMatch(needle.text(), rule.pattern)) {
                EXPECT_TRUE(RE2::PartialMatch(needle.text(), rule.text.hint.empty() ? "" : rule.text.hint))
                    << rule.text.id << ": " << needle.text();
            }
        }
    }
}

TEST(Needles, AllOfThemAreInNoFileOfABundle)
{
    auto input = handmade::reportInput();
    const auto told = input.run.events.front();
    for (const auto& needle : needles()) {
        auto event = told;
        event.text = needle.text();
        event.line = 100 + static_cast<std::int64_t>(input.run.events.size());
        input.run.events.push_back(event);
    }
    const TemporaryFolder folder;
    const auto written = report::writeBundle(folder.path() / "bundle", input, {});
    ASSERT_TRUE(written) << written.error().what;
    for (const auto& file : written->files) {
        const auto text = contentsOf(file.path);
        for (const auto& needle : needles()) {
            // Short names are words of the report's own, too.
            if (needle.secret.size() > 8) {
                EXPECT_THAT(text, Not(HasSubstr(needle.secret))) << file.path << " " << needle.rule;
            }
        }
    }
}
