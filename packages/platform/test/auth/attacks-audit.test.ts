import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Attacks at every handler are refused and recorded in the audit log with their code, without any secret. Rejections of
// a token by the exchange are looked up in support/attacks.ts, by every test of such a token.

interface Attack {
  name: string;
  /** The attack, the status it must be answered with, and the secrets that it sent. */
  run(): Promise<{ answer: Answer; status: number; secrets: string[] }>;
  /** How the log records it: the end of the method's name, and the gRPC code. */
  method: string;
  code: number;
}

let platform: Platform;
let group: string;
let viewer: string;
let identity: string;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  group = (await platform.group(platform.organization)).uid;
  viewer = await platform.role("viewer");
  identity = await platform.identity(group, "viewer");
});
after(() => platform.close());

const host = (): string => new URL(platform.url).host;
const accept = async (who: string, code: string): Promise<Answer> =>
  platform.call("POST", "/iam/v2/groupInvites:accept", { token: await platform.token(who), body: { code } });

const ATTACKS: Attack[] = [
  {
    name: "a registry token at the API",
    method: "ReposService.ListRepos",
    code: 16,
    async run() {
      const token = await platform.token(identity, { audience: host() });
      return { answer: await platform.call("GET", "/registry/v2/repos", { token }), status: 401, secrets: [token] };
    },
  },
  {
    name: "a token of an identity that was deleted",
    method: "GroupsService.ListGroups",
    code: 16,
    async run() {
      const gone = await platform.identity(group, "viewer");
      const token = await platform.token(gone);
      await platform.ok("DELETE", `/iam/v2/identities/${gone}`);
      return { answer: await platform.call("GET", "/iam/v2/groups", { token }), status: 401, secrets: [token] };
    },
  },
  {
    name: "a role binding with more rights than its creator holds",
    method: "RoleBindingsService.CreateRoleBinding",
    code: 7,
    async run() {
      const limited = await platform.identity(group, "limited_owner");
      const token = await platform.token(limited);
      const body = { identityUid: limited, roleUid: await platform.role("owner") };
      return {
        answer: await platform.call("POST", `/iam/v2/roleBindings/${group}`, { token, body }),
        status: 403,
        secrets: [token],
      };
    },
  },
  {
    name: "a request for a hidden resource",
    method: "GroupsService.GetGroup",
    code: 5,
    async run() {
      const token = await platform.token(identity);
      return {
        answer: await platform.call("GET", `/iam/v2/groups/${platform.organization}`, { token }),
        status: 404,
        secrets: [token],
      };
    },
  },
  {
    name: "a token narrowed to capabilities that asks for another",
    method: "sts.exchange",
    code: 7,
    async run() {
      const { body } = await platform.call("POST", "/sts/exchange?cap=CAP_REPO_LIST", {
        token: await platform.token(identity),
      });
      const token = String(body["token"]);
      return {
        answer: await platform.call("POST", "/sts/exchange?cap=CAP_TAG_LIST", { token }),
        status: 403,
        secrets: [token],
      };
    },
  },
  {
    name: "a refresh token that was never issued",
    method: "sts.refresh",
    code: 16,
    async run() {
      const token = `mrt_${"A".repeat(43)}`;
      return {
        answer: await platform.call("POST", "/sts/exchange_refresh_token", { token }),
        status: 401,
        secrets: [token],
      };
    },
  },
  {
    name: "an invite that was already used",
    method: "GroupInvitesService.AcceptGroupInvite",
    code: 9,
    async run() {
      const { code } = await platform.ok("POST", `/iam/v2/groupInvites/${group}`, {
        roleUid: viewer,
        ttl: "3600s",
        singleUse: true,
      });
      const [first, second] = [await platform.identity(group), await platform.identity(group)];
      assert.equal((await accept(first, String(code))).status, 200);
      return { answer: await accept(second, String(code)), status: 400, secrets: [String(code)] };
    },
  },
  {
    name: "a push without the capability",
    method: "registry.write",
    code: 7,
    async run() {
      const token = await platform.token(identity, { audience: host() });
      const name = `${platform.bootstrap.organization.name}/stolen`;
      return {
        answer: await platform.call("POST", `/v2/${name}/blobs/uploads/`, { token, raw: "" }),
        status: 403,
        secrets: [token],
      };
    },
  },
];

for (const { name, run, method, code } of ATTACKS) {
  test(`${name}: refused, and logged without secrets`, async () => {
    const { answer, status, secrets } = await run();
    assert.equal(answer.status, status, answer.text);
    const requestId = String(answer.headers["x-request-id"]);
    const entries = await eventually(async () => {
      const found = await platform.reader
        .selectFrom("audit_entries")
        .selectAll()
        .where("request_id", "=", requestId)
        .where("decision", "=", 2)
        .execute();
      return found.length > 0 && found;
    });
    assert.ok(
      entries.some((entry) => entry.method.endsWith(method) && entry.code === code && entry.reason !== ""),
      JSON.stringify(entries),
    );
    const text = JSON.stringify(entries) + answer.text;
    for (const secret of secrets.flatMap((each) => each.split(".")).filter((part) => part.length > 20))
      assert.ok(!text.includes(secret));
  });
}
