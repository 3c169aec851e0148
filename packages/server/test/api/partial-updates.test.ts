// An update without a mask changes the leaves that it names, and leaves their siblings as they are: a client that sends
// a part of a nested message takes no condition away from an identity, a policy or a provider.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import { IdentitiesService, IdentityProvidersService, ReposService } from "@moorage/api";
import { type Json, type Platform, startPlatform } from "../support/platform.ts";

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

const IDENTITIES = "/iam/v2/identities";
const REPOS = "/registry/v2/repos";
const PROVIDERS = "/iam/v2/identityProviders";
const { updateIdentity } = IdentitiesService.method;
const { updateRepo } = ReposService.method;
const { updateIdentityProvider } = IdentityProvidersService.method;

/** What a gRPC client gets that sets these fields and no mask, in JSON. */
async function grpc<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
): Promise<Json> {
  const { message, error } = await platform.grpc.call(method, request, await platform.token());
  if (message === undefined) throw new Error(JSON.stringify(error));
  return toJson(method.output, message) as unknown as Json;
}

describe("an identity's conditions", () => {
  const claimMatch = {
    issuer: "https://issuer.example.com",
    subjectPattern: "repo:acme/.*",
    claims: { ref: "refs/heads/main" },
    claimPatterns: { actor: "a.*" },
  };
  const robot = async (): Promise<Json> =>
    await platform.ok("POST", `${IDENTITIES}/${platform.organization}`, { name: "robot", claimMatch });

  test("stay where a patch names its issuer and subject alone, by REST and gRPC", async () => {
    const expected = { ...claimMatch, issuer: "https://other.example.com", subject: "repo:acme/app" };
    const { subjectPattern: _, ...kept } = expected;
    const byRest = await robot();
    const rest = await platform.ok("PATCH", `${IDENTITIES}/${byRest.uid}`, {
      claimMatch: { issuer: expected.issuer, subject: expected.subject },
    });
    assert.deepEqual(rest["claimMatch"], kept);
    assert.deepEqual((await platform.ok("GET", `${IDENTITIES}/${byRest.uid}`))["claimMatch"], kept);

    const { uid } = await robot();
    const answer = await grpc(updateIdentity, {
      identity: {
        uid,
        relationship: {
          case: "claimMatch",
          value: {
            iss: { case: "issuer", value: expected.issuer },
            sub: { case: "subject", value: expected.subject },
          },
        },
      },
    });
    assert.deepEqual(answer["claimMatch"], kept);
  });

  test("change by leaf: an empty value clears its own field, a map is replaced whole, null clears the message", async () => {
    const { uid } = await robot();
    const change = async (body: object): Promise<unknown> =>
      (await platform.ok("PATCH", `${IDENTITIES}/${uid}`, body))["claimMatch"];
    assert.deepEqual(await change({ claimMatch: {} }), claimMatch, "an empty object names no leaf");
    assert.deepEqual(await change({ claimMatch: { claims: { environment: "prod" } } }), {
      ...claimMatch,
      claims: { environment: "prod" },
    });
    assert.deepEqual(await change({ claimMatch: { claims: {} } }), { ...claimMatch, claims: {} });
    assert.equal(await change({ claimMatch: null }), undefined);
  });

  test("are replaced whole by a mask that names the message, and by another relationship", async () => {
    const { uid } = await robot();
    const small = { issuer: "https://issuer.example.com", subject: "s" };
    const masked = await platform.ok("PATCH", `${IDENTITIES}/${uid}?updateMask=claimMatch`, { claimMatch: small });
    assert.deepEqual(masked["claimMatch"], { ...small, claims: {}, claimPatterns: {} });
    const other = await platform.ok("PATCH", `${IDENTITIES}/${uid}`, {
      awsIdentity: { awsAccount: "123456789012", arn: "a" },
    });
    assert.equal(other["claimMatch"], undefined);
    assert.equal((other["awsIdentity"] as Json)["awsAccount"], "123456789012");
  });
});

test("a repo's policy and mirror: what a patch does not name stays, by REST and gRPC", async () => {
  const tagPolicy = { immutableTags: ["v.*"], protectedTags: ["stable"], retention: [{ keepLast: 3 }] };
  const { uid } = await platform.repo(platform.organization, { tagPolicy });
  const rest = await platform.ok("PATCH", `${REPOS}/${uid}`, { tagPolicy: { historyRetention: "60s" } });
  const { immutableTags, protectedTags, retention, historyRetention } = rest["tagPolicy"] as Record<string, unknown>;
  assert.deepEqual(
    [immutableTags, protectedTags, historyRetention, (retention as Json[])[0]?.["keepLast"]],
    [["v.*"], ["stable"], "60s", 3],
  );
  assert.deepEqual((await platform.ok("PATCH", `${REPOS}/${uid}`, { tagPolicy: {} }))["tagPolicy"], rest["tagPolicy"]);
  const shorter = await grpc(updateRepo, { repo: { uid, tagPolicy: { immutableTags: ["r.*"] } } });
  const after = shorter["tagPolicy"] as Record<string, unknown>;
  assert.deepEqual(
    [after["immutableTags"], after["protectedTags"], after["historyRetention"]],
    [["r.*"], ["stable"], "60s"],
    "a list is replaced whole",
  );
  const emptied = await platform.ok("PATCH", `${REPOS}/${uid}?updateMask=*`, { name: rest.name });
  assert.equal(emptied["tagPolicy"], undefined, "* replaces all fields");
});

test("a provider's settings: a new client id turns PKCE off in neither protocol, and keeps scopes", async () => {
  const oidc = {
    issuer: "https://login.example.com",
    clientId: "one",
    additionalScopes: ["groups"],
    pkceEnabled: true,
  };
  const { uid } = await platform.ok("POST", `${PROVIDERS}/${platform.organization}`, { name: "people", oidc });
  const kept = ({ oidc: now }: Json): unknown[] => {
    const { clientId, pkceEnabled, additionalScopes } = now as Record<string, unknown>;
    return [clientId, pkceEnabled, additionalScopes];
  };
  const rest = await platform.ok("PATCH", `${PROVIDERS}/${uid}`, { oidc: { clientId: "two" } });
  assert.deepEqual(kept(rest), ["two", true, ["groups"]]);
  const { message } = await platform.grpc.call(
    updateIdentityProvider,
    { identityProvider: { uid, configuration: { case: "oidc", value: { clientId: "three" } } } },
    await platform.token(),
  );
  assert.ok(message);
  assert.deepEqual(kept(await platform.ok("GET", `${PROVIDERS}/${uid}`)), ["three", true, ["groups"]]);
  const off = await platform.ok("PATCH", `${PROVIDERS}/${uid}`, { oidc: { pkceEnabled: false } });
  assert.deepEqual(kept(off), ["three", false, ["groups"]]);
});
