// Who asks at an edge what a pull token of the center may do: what is decided here is answered, and of the rest that
// the center decides, which is neither a yes nor a no.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parentOf } from "../../../kernel/src/lib/uid.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startPullEdge } from "../../../server/test/support/pull-edge.ts";

interface Explained {
  allowed: boolean;
  reason: string;
  message: string;
  steps: { message: string; outcome: string }[];
  missing: string[];
  remedies: { message: string }[];
}

const APP = "acme/edge/app:1";
const EXPLAIN = "/iam/v2/access:explain";

async function startAccessEdge(t: Parameters<typeof startPullEdge>[0]) {
  const edge = await startPullEdge(t);
  const { here, front, make, organization, team } = edge;
  const robot = await make(team);
  // As its events name it, and by the claims that are in it.
  const claimsOf = (password: string) =>
    JSON.parse(Buffer.from(password.split(".")[1] ?? "", "base64url").toString()) as Record<string, string>;
  const { iss: issuer, sub: subject, aud } = claimsOf(robot.password);
  const named = { issuer: front.host, subject: robot.identity };
  const ask = (claims: object, action: string, resource: string, token = here.platform) =>
    here.ask("POST", EXPLAIN, { token, json: { claims, action: `REGISTRY_ACTION_${action}`, resource } });
  return {
    ...edge,
    robot,
    named,
    forms: [named, { issuer, subject, audiences: [aud] }],
    all: await make(organization),
    ask,
    explain: async (...asked: Parameters<typeof ask>): Promise<Explained> => {
      const answer = await ask(...asked);
      assert.equal(answer.status, 200, answer.text);
      return JSON.parse(answer.text) as Explained;
    },
  };
}

test("a pull of what came from the center is neither allowed nor denied: the center decides it", async (t) => {
  const { forms, ask, login, robot, all, front, here, named } = await startAccessEdge(t);
  // The two get different answers when they log in, so nothing else would be right.
  assert.deepEqual((await login(robot.basic, "acme/edge/app")).granted, []);
  assert.deepEqual((await login(all.basic, "acme/edge/app")).granted, ["acme/edge/app:pull"]);
  for (const claims of forms)
    for (const [resource, name] of [
      [APP, "acme/app"],
      ["acme/edge/not/here:1", "acme/not/here"],
    ] as const) {
      const answer = await ask(claims, "PULL", resource);
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, /FAILED_PRECONDITION/);
      const words = `whether a pull token of ${front.host} may pull ${name} is decided by ${front.host} at each log-in`;
      assert.ok(answer.text.includes(words), answer.text);
      assert.doesNotMatch(answer.text, /"allowed"/);
    }

  // The events of its pulls name it so.
  const { token } = await login(all.basic, "acme/edge/app");
  assert.equal((await here.ask("GET", "/v2/acme/edge/app/manifests/1", { token })).status, 200);
  const events = `/events/v2/events?group=${here.bootstrap.organization.uid}&page_size=200`;
  const act = await eventually(async () => {
    const found = await here.api<{ events: { data: { actor?: { act?: Record<string, string> } } }[] }>("GET", events);
    return found.events.map(({ data }) => data.actor?.act).find((each) => each?.["sub"] === all.identity);
  });
  assert.equal(act["iss"], named.issuer);
});

test("what is decided here is answered: pushes, methods, repos of the group's own, rules, other groups", async (t) => {
  const { forms, explain, front, here, uid } = await startAccessEdge(t);
  await here.pushImage("acme/own", "1", "own");
  const group = parentOf(uid);
  await here.api("POST", `/registry/v2/repos/${group}`, { name: "mine" });
  const denied = async (claims: object, action: string, resource: string): Promise<Explained> => {
    const said = await explain(claims, action, resource);
    assert.equal(said.allowed, false, JSON.stringify(said));
    return said;
  };
  for (const claims of forms) {
    for (const action of ["PUSH", "DELETE"]) {
      const { reason, message } = await denied(claims, action, APP);
      assert.deepEqual(
        [reason, message],
        ["ACCESS_REASON_CLAIMS_NOT_ACCEPTED", `a pull token of ${front.host} only pulls here`],
      );
    }
    const { reason, message } = await denied(claims, "PULL", "acme/edge/mine:1");
    assert.equal(reason, "ACCESS_REASON_TOKEN_NEEDED");
    assert.match(message, /^a pull token of the center that is followed here lacks CAP_MANIFEST_LIST/);
    assert.equal((await denied(claims, "PULL", "acme/own:1")).reason, "ACCESS_REASON_CLAIMS_NOT_ACCEPTED");
  }
  await here.api("PATCH", `/registry/v2/upstreams/${uid}?updateMask=denied`, { denied: ["acme/app"] });
  for (const claims of forms) {
    const { reason, message, missing } = await denied(claims, "PULL", APP);
    assert.deepEqual([reason, missing], ["ACCESS_REASON_REQUEST_REJECTED", []]);
    assert.match(message, /acme\/app/);
  }
  const method = { claims: forms[0], method: "GroupsService/GetGroup", resource: group };
  const { allowed, message } = await here.api<Explained>("POST", EXPLAIN, method);
  assert.deepEqual([allowed, message], [false, `a pull token of ${front.host} only pulls here`]);
});

test("who does not see the image does not find out which registry the group follows", async (t) => {
  const { here, ask, named } = await startAccessEdge(t);
  const { uid: other } = await here.api("POST", "/iam/v2/groups", { name: "strangers" });
  const { identity } = await here.addIdentity(other, "stranger", "owner");
  const token = await here.tokenFor("platform", identity);
  const answerTo = async (issuer: string, more: object = {}) => {
    const { status, text } = await ask({ ...named, issuer, ...more }, "PULL", APP, token);
    return { status, text: text.replace(/"requestId":"[^"]*"/g, "") };
  };
  for (const more of [{}, { claims: "[" }, { identity: named.subject }])
    assert.deepEqual(await answerTo(named.issuer, more), await answerTo("registry.example.com", more));
  assert.equal((await answerTo(named.issuer)).status, 404);
});
