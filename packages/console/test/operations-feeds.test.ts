import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startFeedServer } from "../../server/test/support/feed-server.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

const KEV = "/sites/default/files/feeds/known_exploited_vulnerabilities.json";
const source = await startFeedServer({ after });
source.pages.set(KEV, {
  content: JSON.stringify({ vulnerabilities: [{ cveID: "CVE-2026-1", dateAdded: "2026-01-01" }] }),
});

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_FEEDS_MIRROR: source.url, MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
});
after(() => opened?.close());

const choose = async (page: Page, feed: string, action: string): Promise<void> => {
  await page.getByRole("button", { name: `Actions for ${feed}` }).click();
  await page.getByRole("menuitem", { name: action }).click();
};

test("feeds are added after their license was seen, fetched again, changed and removed", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const feed = async (name: string) =>
    await platform.reader.selectFrom("feeds").selectAll().where("name", "=", name).executeTakeFirst();
  const page = await signedIn();
  await page.getByRole("button", { name: "System" }).click();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Feeds", exact: true }).click();
  await page.getByText("No feeds yet").waitFor();
  // Rows far below the window are not in the page.
  await page.getByRole("table", { name: "Presets of feeds" }).waitFor();
  await page.evaluate("window.scrollTo(0, document.body.scrollHeight)");
  const presets = page.getByRole("table", { name: "Presets of feeds" });
  for (const name of ["osv-npm", "kev"]) await presets.getByRole("row", { name }).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Add 2 feeds…" }).click();
  const dialog = page.getByRole("dialog");
  const asked = await dialog.getByRole("region", { name: "osv-npm" }).innerText();
  for (const part of [`${source.url}/npm/all.zip`, "6 hours", "CC-BY-4.0 (GitHub)", "packages of npm"])
    assert.ok(asked.includes(part), asked);
  // Nothing is added by the click alone.
  await dialog.getByRole("button", { name: "Add", exact: true }).click({ force: true });
  assert.equal(await feed("osv-npm"), undefined);
  await dialog.getByLabel("Fetch them from there, under these licenses").check();
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  // The server fetches both; one of them is not published.
  await page.getByRole("row", { name: /kev.*CC0-1\.0.*Read/ }).waitFor();
  await page.getByRole("row", { name: /osv-npm.*Failed.*answers 404/ }).waitFor();
  await presets.getByRole("row", { name: "osv-npm" }).waitFor({ state: "detached" });

  source.pages.set(KEV, { status: 503 });
  await choose(page, "kev", "Update now");
  await dialog.getByText(`will fetch ${source.url}${KEV}`).waitFor();
  await dialog.getByRole("button", { name: "Update now" }).click();
  await page.getByRole("row", { name: /kev.*Failed.*answers 503/ }).waitFor();

  await choose(page, "kev", "Change interval…");
  await dialog.getByLabel("Hours between fetches").fill("0.001");
  await dialog.getByRole("button", { name: "Change", exact: true }).click();
  await dialog.getByText(/must be from 1m to 365d/).waitFor();
  await dialog.getByLabel("Hours between fetches").fill("48");
  await dialog.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByRole("row", { name: /kev.*every 2 days/ }).waitFor();

  await choose(page, "kev", "Remove…");
  await dialog.getByText(/findings that nothing else supports are closed/).waitFor();
  await dialog.getByRole("button", { name: "Remove", exact: true }).click();
  await presets.getByRole("row", { name: "kev" }).waitFor();
  assert.equal(await feed("kev"), undefined);
  assert.deepEqual(
    complaints.splice(0).filter((each) => !each.includes("400")),
    [],
  );
});

test("feeds are shown with what they cover, their age, and what of them finds nothing", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const nowMs = platform.clock.nowMs();
  const coverage = JSON.stringify([
    { space: "debian:12", records: 3, isMatched: true },
    { space: "npm", records: 1, isMatched: true },
    { space: "Unheard Of", records: 1, isMatched: false },
  ]);
  const row = {
    format: "osv",
    licence: "CC0-1.0",
    address: "",
    interval_ms: 3_600_000,
    products: "[]",
    run: "",
    etag: "",
    last_modified: "",
    records: 5,
    withdrawn: 0,
    problems: 0,
    error: "",
    restate: "",
    create_time: nowMs - 30 * 86_400_000,
    unmatched: 1,
  };
  await platform.transact(async (tx) => {
    await tx
      .insertInto("feeds")
      .values([
        { ...row, name: "debian", origin: "command", coverage },
        { ...row, name: "filed", origin: "file" },
      ])
      .execute();
    await tx
      .insertInto("feed_problems")
      .values({ feed: "debian", n: 0, record: "A-1", position: "A-1", message: "names no package", kind: "UNMATCHED" })
      .execute();
  });
  const page = await signedIn();
  await page.goto("/operations/feeds");
  await page
    .getByRole("row", { name: /debian.*Overdue.*debian:12; some records: npm; not matched: Unheard Of/ })
    .waitFor();
  await page.getByRole("row", { name: /A-1.*matches nothing.*names no package/ }).waitFor();
  await page.getByRole("button", { name: "Actions for filed" }).click();
  const change = page.getByRole("menuitem", { name: /Change interval.*MOORAGE_FEEDS_FILE/ });
  assert.equal(await change.getAttribute("aria-disabled"), "true");
  assert.deepEqual(complaints, []);
});

test("whoever may only look reads what is missing", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn } = console_;
  const { organization } = platform;
  const role = await platform.ok("POST", `/iam/v2/roles/${organization}`, {
    name: "looker",
    capabilities: ["CAP_OPERATIONS_LIST"],
  });
  const identity = await platform.identity(organization);
  await platform.bind(organization, identity, role.uid);
  const page = await signedIn({ identity });
  await page.goto("/operations/feeds");
  await page.getByRole("button", { name: "Actions for osv-npm" }).click();
  await page.getByRole("menuitem", { name: /Update now.*You need CAP_OPERATIONS_FEEDS_UPDATE/ }).waitFor();
});
