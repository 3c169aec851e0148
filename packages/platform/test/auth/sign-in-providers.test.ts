import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// The providers to choose from before a sign-in: whoever names the organization sees those it has, and nobody is given
// the names of organizations.
let platform: Platform;

before(async () => {
  platform = await startPlatform({ MOORAGE_TRUSTED_PROXIES: "127.0.0.1" });
});
after(() => platform.close());

interface Listed {
  identity_providers: Record<string, string>[];
}

async function list(query: string, from = randomAddress()): Promise<{ status: number; body: Listed; cache: string }> {
  const response = await fetch(`${platform.url}/oauth/providers${query}`, { headers: { "x-forwarded-for": from } });
  return {
    status: response.status,
    body: (await response.json()) as Listed,
    cache: response.headers.get("cache-control") ?? "",
  };
}

let count = 0;
function randomAddress(): string {
  return `198.51.${Math.floor((count += 1) / 200)}.${(count % 200) + 1}`;
}

async function add(group: string, name: string): Promise<string> {
  const { uid } = await platform.ok("POST", `/iam/v2/identityProviders/${group}`, {
    name,
    oidc: { issuer: "https://login.example.com", clientId: randomUUID() },
  });
  return uid;
}

test("whoever names an organization or a group of it sees the names and uids of its providers, and nothing else", async () => {
  const { uid: team } = await platform.group(platform.organization, { name: "team" });
  const [staff, partners, own] = [
    await add(platform.organization, "staff"),
    await add(platform.organization, "partners"),
    await add(team, "crew"),
  ];
  const { status, body, cache } = await list("?organization=acme");
  assert.deepEqual([status, cache], [200, "no-store"]);
  assert.deepEqual(body, {
    identity_providers: [
      { uid: partners, name: "partners" },
      { uid: staff, name: "staff" },
    ],
  });
  assert.deepEqual((await list("?organization=acme/team")).body.identity_providers, [{ uid: own, name: "crew" }]);
});

test("an organization that is not there is answered like one without providers", async () => {
  const { uid } = await platform.ok("POST", "/iam/v2/groups", { name: "silent" });
  assert.notEqual(uid, "");
  for (const name of [
    "silent",
    "nowhere",
    "acme/nowhere",
    "ACME",
    "acme%25",
    "%25",
    "a".repeat(300),
    "acme//team",
    "/",
  ])
    assert.deepEqual(await list(`?organization=${name}`), {
      status: 200,
      body: { identity_providers: [] },
      cache: "no-store",
    });
});

test("without a name there is an error that says so, and no list", async () => {
  for (const query of ["", "?organization=", "?organization=acme&organization=silent"]) {
    const { status, body } = await list(query);
    assert.equal(status, 400, query);
    assert.match(String((body as unknown as { error_description: string }).error_description), /organization/);
  }
});

test("names cannot be guessed: after ten that found nothing the address waits, and others do not", async () => {
  for (let guess = 0; guess < 10; guess += 1)
    assert.equal((await list(`?organization=guess-${guess}`, "203.0.113.9")).status, 200);
  assert.equal((await list("?organization=acme", "203.0.113.9")).status, 429);
  assert.equal((await list("?organization=acme", "203.0.114.9")).status, 200);
});
