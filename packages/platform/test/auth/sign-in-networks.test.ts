import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";
import { addProvider } from "../../../server/test/support/people-provider.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// What is limited before anybody is known counts by network, because whoever has one IPv6 address has 2^64 of them; and
// what one network does shuts out no other.
let platform: Platform;
let issuer: Issuer;
let idp: string;

before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_TRUSTED_PROXIES: "127.0.0.1" });
  issuer = await openIssuer();
  issuer.routes.set("/.well-known/openid-configuration", (_request, response) =>
    response.setHeader("content-type", "application/json").end(
      JSON.stringify({
        issuer: issuer.url,
        authorization_endpoint: `${issuer.url}/auth`,
        token_endpoint: `${issuer.url}/token`,
        jwks_uri: `${issuer.url}/jwks`,
      }),
    ),
  );
  idp = await addProvider(platform, { url: issuer.url, register: () => {} });
});
after(async () => {
  await issuer?.close();
  await platform?.close();
});

const send = (from: string, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${platform.url}${path}`, {
    redirect: "manual",
    ...init,
    headers: { ...(init.headers as Record<string, string>), "x-forwarded-for": from },
  });

/** A browser on the page where codes are typed; answers the status for each code. */
async function openPage(): Promise<(from: string, code: string) => Promise<number>> {
  const page = await send("203.0.113.1", "/oauth/device");
  const cookie = page.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const proof = /name="proof" value="(\w+)"/.exec(await page.text())?.[1] ?? "";
  return async (from, code) => {
    const body = new URLSearchParams({ user_code: code, proof });
    const answer = await send(from, "/oauth/device", { method: "POST", headers: { cookie }, body });
    await answer.arrayBuffer();
    return answer.status;
  };
}

async function newDevice(from: string): Promise<{ status: number; code: string }> {
  const body = new URLSearchParams({ client_id: "moorage-cli", identity_provider: idp });
  const answer = await send(from, "/oauth/device_authorization", { method: "POST", body });
  const { user_code: code = "" } = (await answer.json()) as { user_code?: string };
  return { status: answer.status, code };
}

async function beginSignIn(from: string): Promise<number> {
  const answer = await send(from, `/sign-in?identity_provider=${encodeURIComponent(idp)}`);
  await answer.arrayBuffer();
  return answer.status;
}

const WRONG = "BBBB-BBBB";

test("wrong device codes count by network: the addresses of one /64 have ten attempts together", async () => {
  const type = await openPage();
  for (let n = 1; n <= 10; n += 1) assert.equal(await type(`2001:db8:1:1::${n}`, WRONG), 400);
  assert.equal(await type("2001:db8:1:1:ffff::1", WRONG), 429);
  assert.equal(await type("2001:db8:1:2::1", WRONG), 400, "another network");
  assert.equal(await type("192.0.2.1", WRONG), 400);
});

test("a thousand wrong codes of other networks shut nobody out who types a code that is right", async () => {
  const type = await openPage();
  for (let network = 1; network <= 100; network += 1)
    await Promise.all(Array.from({ length: 10 }, () => type(`198.51.100.${network}`, WRONG)));
  const { code } = await newDevice("203.0.113.5");
  assert.equal(await type("203.0.113.7", code), 200);
  // Meanwhile a network has three attempts.
  const statuses = [];
  for (let n = 0; n < 4; n += 1) statuses.push(await type("203.0.113.9", WRONG));
  assert.deepEqual(statuses, [400, 400, 400, 429]);
});

test("devices that wait count by network: a hundred for the addresses of one /64", async () => {
  for (let n = 1; n <= 100; n += 1) assert.equal((await newDevice(`2001:db8:2:1::${n.toString(16)}`)).status, 200);
  assert.equal((await newDevice("2001:db8:2:1:ffff::1")).status, 429);
  assert.equal((await newDevice("2001:db8:2:2::1")).status, 200);
});

test("sign-ins under way count by network: five hundred for the addresses of one /64", async () => {
  for (let n = 0; n < 500; n += 50) {
    const begun = await Promise.all(
      Array.from({ length: 50 }, (_, at) => beginSignIn(`2001:db8:3:1::${(n + at).toString(16)}`)),
    );
    assert.deepEqual([...new Set(begun)], [302]);
  }
  assert.equal(await beginSignIn("2001:db8:3:1:ffff::1"), 429);
  assert.equal(await beginSignIn("2001:db8:3:2::1"), 302);
});
