import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { DescService } from "@bufbuild/protobuf";
import * as api from "@moorage/api";
import { eventTypes } from "../../src/events/types.ts";
import type { Answer } from "../../../server/test/support/platform.ts";
import { openTaggedRepo } from "../../../server/test/support/tagged-repo.ts";
import { apiEmits } from "../../../server/test/support/emitted/by-api.ts";
import { serverEmits } from "../../../server/test/support/emitted/by-server.ts";
import { librariesEmit } from "../../../server/test/support/emitted/by-libraries.ts";
import { registryEmits } from "../../../server/test/support/emitted/by-registry.ts";
import { openEventFixture, type EmittedEvent, typesOf } from "../../../server/test/support/emitted/events.ts";

// Every event type of the contract is emitted when its change is made, with the group, the subject and the actor; no
// other type is emitted, no event contains a secret, and a failed change emits none.

const services = Object.values(api).filter(
  (value) => typeof value === "object" && "kind" in value && value.kind === "service",
) as DescService[];
const listed = [...eventTypes(services.flatMap(({ methods }) => methods)).keys()];

const fixture = await openEventFixture();
const { platform, issuer, emitted, ask } = fixture;
after(() => fixture.close());

describe("methods of the API emit events with what they answer", () => apiEmits(fixture));
describe("the registry emits events for pushes, pulls, moves and deletions", () => registryEmits(fixture));
describe("libraries emit events for versions that come, change and go", () => librariesEmit(fixture));
describe("the server emits events for what it does by itself", () => serverEmits(fixture));

test("a sign-in emits an event in the provider's group, and accepting an invite one in the invite's group", async () => {
  const { uid: group } = await platform.group(platform.organization);
  const viewer = await platform.role("viewer");
  const oidc = { issuer: issuer.url, clientId: "moorage" };
  const { uid: provider } = await platform.ok("POST", `/iam/v2/identityProviders/${group}`, {
    name: "people",
    oidc,
    defaultRole: viewer,
  });
  let identity = "";
  const signIn = async (): Promise<void> => {
    const seconds = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer.url,
      aud: "moorage",
      sub: "ann",
      iat: seconds,
      exp: seconds + 300,
      email: "ann@example.com",
      email_verified: true,
    };
    const { status, text, body } = await platform.call("GET", `/sts/exchange?identity_provider=${provider}`, {
      token: await issuer.sign(claims),
    });
    assert.equal(status, 200, text);
    identity = String(
      (JSON.parse(Buffer.from(String(body["token"]).split(".")[1] ?? "", "base64url").toString()) as { sub: string })
        .sub,
    );
  };
  const first = await emitted(signIn);
  const who = { subject: identity, act: { iss: issuer.url, sub: "ann" } };
  const signedIn = {
    subject: identity,
    group,
    target: "",
    actor: who,
    body: { identity, provider, email: "ann@example.com" },
  };
  assert.deepEqual(first[0], { type: "api.auth.registered.v1", ...signedIn });
  assert.deepEqual(
    first.slice(1).map(({ type, group: place, actor: by }) => [type, place, by]),
    [["api.iam.rolebindings.created.v1", group, who]],
  );
  assert.deepEqual(await emitted(signIn), [{ type: "api.auth.signed_in.v1", ...signedIn }]);

  const { uid, code } = await platform.ok("POST", `/iam/v2/groupInvites/${group}`, {
    roleUid: await platform.role("editor"),
    ttl: "3600s",
  });
  const token = await platform.token(identity);
  const accept = (): Promise<Answer> => ask("POST", "/iam/v2/groupInvites:accept", { token, body: { code } });
  const accepted = await emitted(accept);
  const [bound, invited] = accepted as [EmittedEvent, EmittedEvent];
  assert.deepEqual(typesOf(accepted), ["api.iam.rolebindings.created.v1", "api.iam.group_invite.accepted.v1"]);
  assert.deepEqual([bound.group, bound.actor.subject], [group, identity]);
  assert.deepEqual(
    [invited.subject, invited.group, invited.body],
    [uid, group, { uid, identity, roleBinding: bound.subject }],
  );
  assert.deepEqual(await emitted(accept), [], "accepted once more, which changes nothing");
});

test("a failed change emits no event", async () => {
  const tagged = await openTaggedRepo(platform, "fails", { immutableTags: ["v1"] });
  const viewer = await platform.role("viewer");
  const member = await platform.identity(platform.organization);
  const requests = [member, "nobody"].map((identityUid) => ({ roleBinding: { identityUid, roleUid: viewer } }));
  await tagged.set("v1", tagged.digests[0]);
  const failing: (() => Promise<Answer>)[] = [
    async () =>
      platform.call("POST", `/registry/v2/repos/${platform.organization}`, {
        token: await platform.token(),
        body: { name: "fails" },
      }),
    async () =>
      platform.call("POST", "/iam/v2/roleBindings:batchCreate", {
        token: await platform.token(),
        body: { parent: platform.organization, requests },
      }),
    // The first tag moves before the second is rejected.
    () => tagged.push(tagged.digests[1], 1, "?tag=v0&tag=v1"),
    () =>
      tagged.promote([
        { name: "v2", digest: tagged.digests[1] },
        { name: "v1", digest: tagged.digests[1] },
      ]),
    async () =>
      platform.call("DELETE", `/registry/v2/repos/${tagged.uid}/${"0".repeat(16)}`, { token: await platform.token() }),
  ];
  for (const [at, work] of failing.entries())
    assert.deepEqual(await emitted(async () => assert.ok((await work()).status >= 400, String(at))), [], String(at));
});

test("no event contains a secret", async () => {
  const secrets = ["the client's secret", "the mirror's password"];
  const keep = await emitted(async () => {
    const { organization } = platform;
    const oidc = { issuer: issuer.url, clientId: "b", clientSecret: secrets[0] };
    await platform.ok("POST", `/iam/v2/identityProviders/${organization}`, { name: "secret", oidc });
    const syncConfig = { source: "registry.invalid/app", username: "robot", password: secrets[1] };
    const { uid } = await platform.repo(organization, { name: "secret", syncConfig });
    await platform.ok("PATCH", `/registry/v2/repos/${uid}`, { description: "changed" });
    secrets.push(
      String(
        (
          await platform.ok("POST", `/iam/v2/groupInvites/${organization}`, {
            roleUid: await platform.role("viewer"),
            ttl: "3600s",
          })
        )["code"],
      ),
    );
    const made = await platform.subscription(organization);
    secrets.push(
      String(made["secret"]),
      String((await platform.ok("POST", `/events/v2/subscriptions/${made.uid}:rotateSecret`, {}))["secret"]),
    );
  });
  assert.equal(keep.length, 6);
  for (const secret of secrets) {
    assert.ok(secret.length > 16, secret);
    assert.ok(!fixture.text().includes(secret), secret);
  }
});

test("every listed type was emitted, and no other", () => {
  assert.ok(listed.length > 40);
  assert.deepEqual([...fixture.seen].sort(), listed.toSorted());
});
