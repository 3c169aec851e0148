import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { eventually } from "../../server/test/support/eventually.ts";
import { openSigstore } from "../../server/test/support/keyless-signing.ts";
import { LOOPBACK } from "../../server/test/support/mirror.ts";
import { openTufRepository } from "../../server/test/support/tuf-repository.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

const MINUTE_MS = 60_000;

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ ...LOOPBACK, MOORAGE_WORK_POLL: "20ms" });
});
after(() => opened?.close());

test("a trust root is pasted, a signer names it, and it is not deleted before that has another one", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const { uid: group } = await platform.group(platform.organization);
  const { root } = await openSigstore();
  const page = await signedIn();
  const dialog = page.getByRole("dialog");
  await page.goto(`/signatures/trust-roots?group=${group}`);
  await page.getByText("No trust roots here").waitFor();
  await page.getByRole("button", { name: "New trust root" }).click();
  await dialog.getByLabel("Name").fill("own");
  await dialog.getByRole("textbox", { name: "Trusted root" }).fill("not JSON");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("is not JSON").waitFor();
  await dialog.getByRole("textbox", { name: "Trusted root" }).fill(root);
  await dialog.getByRole("button", { name: "Create" }).click();
  const row = page.getByRole("table", { name: "Trust roots" }).getByRole("row", { name: /own/ });
  await row.getByText("Ready").waitFor();
  await row.getByText("pasted, does not renew itself").waitFor();
  const path = `/registry/v2/trustRoots/${group}`;
  const { uid: other } = await platform.ok("POST", path, { name: "another", trustedRoot: root });

  await page.goto(`/signatures/signers?group=${group}`);
  await page.getByRole("button", { name: "New signer" }).click();
  await dialog.getByLabel("Name").fill("nightly");
  await dialog.getByLabel("Known by").selectOption("keyless");
  await dialog.getByLabel("Subject", { exact: true }).fill("https://ci.example.com/acme/nightly");
  const choice = dialog.getByLabel("Trust root");
  await choice.getByRole("option", { name: /^own .*: ready/ }).waitFor({ state: "attached" });
  const option = await choice.getByRole("option", { name: /^own / }).getAttribute("value");
  await choice.selectOption(option);
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("link", { name: "nightly" }).click();
  await page.getByRole("link", { name: "own" }).click();

  await page.getByRole("table", { name: "What it names" }).getByText("Transparency log").waitFor();
  await page.getByRole("table", { name: "Signers that use it" }).getByRole("link", { name: "nightly" }).waitFor();
  await page.getByRole("button", { name: "Actions for own" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await dialog.getByText("It is not deleted while signers name it").waitFor();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("alert").getByText("Signers name the trust root: nightly").waitFor();
  await dialog.getByRole("link", { name: "nightly" }).click();
  await page.getByRole("button", { name: "Actions for nightly" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await dialog.getByLabel("Trust root").selectOption("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("is required: the server has neither").waitFor();
  await dialog.getByLabel("Trust root").selectOption(other);
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: "another" }).waitFor();

  await page.goto(`/signatures/trust-root?uid=${option ?? ""}`);
  await page.getByText("No signer that you can see uses it").waitFor();
  await page.getByRole("button", { name: "Actions for own" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/\/signatures\/trust-roots/);
  assert.deepEqual(complaints, []);
});

test("a trust root of a mirror says what is not fetched, has failed or is expired, and why", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const mirror = await openTufRepository();
  t.after(() => mirror.close());
  const first = mirror.publishRoot();
  const later = (minutes: number): void => {
    platform.clock.offsetMs += minutes * MINUTE_MS;
    platform.wake(["trust-roots"]);
  };
  const { uid: group } = await platform.group(platform.organization);
  const page = await signedIn();
  const dialog = page.getByRole("dialog");
  await page.goto(`/signatures/trust-roots?group=${group}`);
  await page.getByRole("button", { name: "New trust root" }).click();
  await dialog.getByLabel("Name").fill("public");
  await dialog.getByLabel("Where it comes from").selectOption("tuf");
  await dialog.getByLabel("URL of the mirror").fill(mirror.url);
  await dialog.getByLabel("First root").fill(first);
  await dialog.getByLabel("Refresh interval, hours").fill("0.5");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("must be an hour at least").waitFor();
  await dialog.getByLabel("Refresh interval, hours").fill("1");
  await dialog.getByRole("button", { name: "Create" }).click();
  const row = page.getByRole("table", { name: "Trust roots" }).getByRole("row", { name: /public/ });
  await row.getByText("Not fetched", { exact: true }).waitFor();
  await row.getByText(/the mirror answers 404/i).waitFor();

  await page.getByRole("link", { name: "public" }).click();
  await page.getByText("What is signed by identities that name it does not hold").waitFor();
  const { root } = await openSigstore();
  // It ends after the refresh that fails.
  mirror.publish({ target: root, expireMs: platform.clock.nowMs() + 100 * MINUTE_MS });
  later(20);
  // The page looks again by itself as long as nothing was fetched.
  await page.getByText("Ready", { exact: true }).waitFor();
  await page.getByText("It is not shown here").waitFor();

  // Meanwhile the session of the first page ends.
  const inState = async (state: string, minutes: number): Promise<Page> => {
    later(minutes);
    const path = "/registry/v2/trustRoots?name=public";
    const uid = await eventually(async () => {
      const { trustRoots } = await platform.ok<{ trustRoots: { uid: string; state: string }[] }>("GET", path);
      return trustRoots.find((each) => each.state === `TRUST_ROOT_STATE_${state}`)?.uid;
    });
    const next = await signedIn();
    await next.goto(`/signatures/trust-root?uid=${uid}`);
    return next;
  };
  mirror.setDown(true);
  const failed = await inState("FAILED", 65);
  await failed.getByText("Failed", { exact: true }).waitFor();
  await failed.getByText(/the mirror answers 503.*counts until it expires/).waitFor();
  const expired = await inState("EXPIRED", 65);
  await expired.getByText("Expired", { exact: true }).waitFor();
  await expired.getByText(/expired at .*does not hold/).waitFor();
  assert.deepEqual(complaints, []);
});
