import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import { openIssuer } from "../../../server/test/support/issuer.ts";
import { type Answer, startPlatform } from "../../../server/test/support/platform.ts";

// What receivers that were compiled elsewhere parse: `when` as civil time, `actor.act` as a map of texts.

const CIVIL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/;

interface FeedEvent {
  type: string;
  time: string;
  data: { actor: { subject: string; act: Record<string, unknown> }; body: Record<string, unknown> };
}

test("pushes, pulls and deletions have `when` as civil time in UTC with microseconds, and `act` of texts alone", async (t) => {
  const platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  t.after(() => platform.close());
  const issuer = await openIssuer();
  t.after(() => issuer.close());
  const { host } = new URL(platform.url);
  const claimMatch = { issuer: issuer.url, subject: "job", audience: platform.url };
  const { uid } = await platform.ok("POST", `/iam/v2/identities/${platform.organization}`, { name: "job", claimMatch });
  await platform.bind(platform.organization, uid, await platform.role("owner"));
  const seconds = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer.url, sub: "job", aud: platform.url, email_verified: true, run: 12, share: 0.5 };
  const external = await issuer.sign({ ...claims, iat: seconds, exp: seconds + 600 });
  const { body } = await platform.call("POST", `/sts/exchange?aud=${host}`, { token: external });
  const registry = async (method: string, path: string, raw?: string): Promise<Answer> => {
    const answer = await platform.call(method, `/v2/acme/app/${path}`, {
      token: String(body["token"]),
      ...(raw !== undefined && { raw, headers: { "content-type": "application/vnd.oci.image.manifest.v1+json" } }),
    });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  const digest = await pushImage(platform, "acme/app", "v1");
  const { text } = await registry("GET", `manifests/${digest}`);
  await registry("PUT", "manifests/v2", text);
  await registry("DELETE", `manifests/${digest}`);

  const read = async (): Promise<FeedEvent[]> => {
    const { events } = await platform.ok(
      "GET",
      `/events/v2/events?group=${platform.organization}&type_prefixes=dev.moorage.registry.`,
    );
    return (events as FeedEvent[]).filter(({ data }) => data.actor.subject === uid);
  };
  const events = await eventually(
    async () => {
      const found = await read();
      return found.length >= 3 && found;
    },
    { instead: read },
  );
  assert.deepEqual(events.map(({ type }) => type.replace("dev.moorage.", "")).sort(), [
    "registry.delete.v1",
    "registry.pull.v1",
    "registry.push.v1",
  ]);
  for (const { type, time, data } of events) {
    const when = String(data.body["when"]);
    assert.match(when, CIVIL, type);
    assert.equal(Date.parse(`${when}Z`), Date.parse(time), "in UTC");
    assert.deepEqual(data.actor.act, { ...claims, email_verified: "true", run: "12", share: "0.5" }, type);
  }
});
