import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { startInstallation } from "./support/installation.ts";
import { eventsOf, QUICK, startReceiver, until } from "./support/receiver.ts";

test("an event is a CloudEvent with both proofs of where it comes from", async (t) => {
  const receiver = await startReceiver(t);
  const moorage = await startInstallation(t, QUICK);
  const { organization, subscribe } = eventsOf(moorage);
  const { uid, secret } = await subscribe(`${receiver.url}/in?a=b`);
  const { uid: group } = await moorage.api("POST", `/iam/v2/groups/${organization}`, { name: "team" });
  const got = await until(() => receiver.events().find(({ headers }) => headers["ce-subject"] === group));
  assert.equal(got.path, "/in?a=b");
  const { headers, body } = got;
  const seen = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("ce-")));
  assert.match(seen["ce-id"] as string, /^[0-9a-f-]{36}$/);
  assert.match(seen["ce-time"] as string, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual({ ...seen, "ce-id": "", "ce-time": "" }, {
    "ce-specversion": "1.0", "ce-id": "", "ce-source": moorage.url, "ce-type": "dev.moorage.api.iam.group.created.v1", "ce-subject": group, "ce-time": "",
    "ce-group": group, "ce-audience": "customer", "ce-actor": moorage.bootstrap.identity.uid, "ce-sequence": "1",
  });
  assert.equal(headers["content-type"], "application/json");
  assert.equal(headers["content-length"], String(Buffer.byteLength(body)));
  const { actor, body: told, ...rest } = JSON.parse(body) as { actor: { subject: string; act: object }; body: { uid: string; name: string } };
  assert.deepEqual([actor.subject, told.uid, told.name, rest], [moorage.bootstrap.identity.uid, group, "team", {}]);
  assert.equal(headers["webhook-id"], headers["ce-id"]);
  const signature = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
    .update(`${headers["webhook-id"] as string}.${headers["webhook-timestamp"] as string}.${body}`).digest("base64");
  assert.equal(headers["webhook-signature"], `v1,${signature}`);
  const token = headers.authorization?.replace("Bearer ", "") ?? "";
  const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL("/.well-known/jwks.json", moorage.url)), { issuer: moorage.url, audience: "customer", algorithms: ["ES256"] });
  assert.equal(decodeProtectedHeader(token).typ, "JWT");
  assert.equal(payload.sub, `webhook:${organization}`);
  assert.deepEqual(payload["webhook"], { digest: `sha256:${createHash("sha256").update(body).digest("hex")}` });
  assert.ok((payload.exp ?? 0) - (payload.iat ?? 0) <= 300 && typeof payload.jti === "string");
  assert.equal(uid.startsWith(organization), true);
});
