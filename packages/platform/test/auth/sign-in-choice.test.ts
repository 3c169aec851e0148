import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { type Browser, openBrowser, type Shown } from "../../../server/test/support/browser.ts";
import {
  addProvider,
  openPeopleProvider,
  type PeopleProvider,
  tokenCall,
} from "../../../server/test/support/people-provider.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// A person who knows no identity provider's uid chooses on a page, by the name of the organization.
const LANDING = "http://127.0.0.1:49152/callback";
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
let platform: Platform;
let people: PeopleProvider;
let name: string;

before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  people = await openPeopleProvider();
  const uid = await addProvider(platform, people);
  name = (await platform.ok("GET", `/iam/v2/identityProviders/${uid}`)).name;
});
after(async () => {
  await people?.close();
  await platform?.close();
});

const decoded = (html: string): string => html.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(+code));

/** The hidden fields and the action of the page's form that has the field. */
function formWith(field: string, { text, url }: Shown): { action: string; fields: Record<string, string> } {
  const form = [...text.matchAll(/<form[^>]*action="([^"]+)"[^>]*>.*?<\/form>/gs)].find(([all]) =>
    all.includes(`name="${field}"`),
  );
  assert.ok(form, text);
  const fields = [...form[0].matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return {
    action: new URL(decoded(form[1] ?? ""), url).href,
    fields: Object.fromEntries(fields.map(([, key = "", value = ""]) => [decoded(key), decoded(value)])),
  };
}

/** Types the organization's name and answers the page after it. */
async function typeName(browser: Browser, page: Shown, organization: string): Promise<Shown> {
  const { action, fields } = formWith("organization", page);
  return browser.open(`${action}?${new URLSearchParams({ ...fields, organization }).toString()}`);
}

const linkIn = ({ text, url }: Shown, label: string): string => {
  const [, href] = [...text.matchAll(/<a href="([^"]+)">([^<]+)<\/a>/g)].find(([, , said]) => said === label) ?? [];
  assert.ok(href, text);
  return new URL(decoded(href), url).href;
};

function request(path: string, verifier: string): string {
  return `${platform.url}${path}?${new URLSearchParams({
    response_type: "code",
    client_id: "moorage-cli",
    redirect_uri: LANDING,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state: 'a"<b>&c',
  }).toString()}`;
}

test("a program that names no provider lets the person choose, at /oauth and /oauth/authorize", async () => {
  for (const path of ["/oauth", "/oauth/authorize"]) {
    const verifier = randomBytes(32).toString("base64url");
    const browser = openBrowser();
    const asked = await browser.open(request(path, verifier), LANDING);
    assert.deepEqual([asked.status, asked.location], [200, ""]);
    assert.doesNotMatch(asked.text, /<b>|acme/, "nothing of the request as HTML, and no names of organizations");
    const shown = await typeName(browser, asked, "acme");
    const landed = new URL((await browser.signIn(linkIn(shown, name), "ada", LANDING)).location).searchParams;
    assert.deepEqual([landed.get("error"), landed.get("state")], [null, 'a"<b>&c']);
    const { status } = await tokenCall(platform, {
      grant_type: "authorization_code",
      code: landed.get("code") ?? "",
      client_id: "moorage-cli",
      redirect_uri: LANDING,
      code_verifier: verifier,
    });
    assert.equal(status, 200);
  }
});

test("a browser session begins with a choice, too", async () => {
  const browser = openBrowser();
  const asked = await browser.open(`${platform.url}/sign-in?return_to=/session`);
  const shown = await typeName(browser, asked, "acme");
  const session = await browser.signIn(linkIn(shown, name), "ada");
  assert.deepEqual([session.status, session.url], [200, `${platform.url}/session`]);
});

test("a device that names no provider: the person types its code at /oauth and chooses there", async () => {
  const begun = await tokenCall(platform, { client_id: "moorage-cli" }, "/oauth/device_authorization");
  assert.equal(begun.status, 200, JSON.stringify(begun.body));
  const [code, device] = [String(begun.body["user_code"]), String(begun.body["device_code"])];
  const browser = openBrowser();
  const next = async (page: Shown, field: string, more: Record<string, string>, until?: string): Promise<Shown> => {
    const { action, fields } = formWith(field, page);
    return browser.post(action, { ...fields, ...more }, until);
  };
  const page = await browser.open(`${platform.url}/oauth?user_code=${code}`);
  assert.match(page.text, new RegExp(`value="${code}"`));
  const details = await next(page, "user_code", { user_code: code });
  assert.match(details.text, /The Moorage command line/);
  const asked = await next(details, "answer", { answer: "go" });
  assert.doesNotMatch(asked.text, /acme/);
  const wrong = await next(asked, "organization", { organization: "nobody" });
  assert.deepEqual([wrong.status, /No identity provider was found there/.test(wrong.text)], [404, true]);
  const shown = await next(wrong, "organization", { organization: "acme" });
  const [, provider = ""] =
    [...shown.text.matchAll(/name="identity_provider" value="([^"]+)">([^<]+)</g)].find(
      ([, , said]) => said === name,
    ) ?? [];
  const there = await next(shown, "identity_provider", { identity_provider: provider }, `${people.url}/auth`);
  const done = await browser.signIn(there.location, "ada");
  assert.match(done.text, /You may close this page/);
  const poll = () => tokenCall(platform, { grant_type: DEVICE_GRANT, device_code: device, client_id: "moorage-cli" });
  assert.equal((await poll()).status, 200);
  assert.equal((await poll()).body["error"], "invalid_grant");
});

test("a name that is not there is answered like one without providers, and names cannot be guessed", async () => {
  await platform.ok("POST", "/iam/v2/groups", { name: "empty" });
  const browser = openBrowser();
  const asked = await browser.open(`${platform.url}/sign-in`);
  const of = async (organization: string): Promise<[number, string]> => {
    const { status, text } = await typeName(browser, asked, organization);
    return [status, text.replaceAll(organization, "…")];
  };
  assert.deepEqual(await of("empty"), await of("absent"));
  const escaped = await typeName(browser, asked, '"><script>');
  assert.doesNotMatch(escaped.text, /<script>/);
  for (let n = 0; n < 10; n += 1) await of(`guess-${n}`);
  assert.equal((await of("acme"))[0], 429, "also of a name that is there");
});
