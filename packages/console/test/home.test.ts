import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushImage } from "../../server/test/support/image.ts";
import { type Console, needs, openConsole } from "./support/console.ts";
import { fillDays } from "./support/showcase-days.ts";

// What was counted by day, on Home.

const DAY_MS = 86_400_000;

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("Home shows open findings and pulls by day; days that were not counted are not known, and not 0", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform } = console_;
  await pushImage(platform, "acme/app", "v1");
  const page = await console_.signedIn();
  const findings = page.getByRole("region", { name: "Open findings by severity, 90 days" });
  await findings.getByText("Not counted yet").waitFor();

  const { repos } = await platform.ok<{ repos: { uid: string }[] }>("GET", "/registry/v2/repos?name=app");
  await fillDays(platform, repos[0]?.uid ?? "");
  await platform.transact((tx) =>
    tx.updateTable("finding_days").set({ unknown_images: 2 }).where("grp", "=", platform.organization).execute(),
  );
  await page.reload();
  const day = (ago: number): string => new Date(platform.clock.nowMs() - ago * DAY_MS).toISOString().slice(0, 10);
  const cell = async (table: string, ago: number): Promise<string | null> =>
    await page
      .getByRole("table", { name: table })
      .getByRole("row")
      .filter({ hasText: day(ago) })
      .textContent();
  assert.equal(await cell("Open findings", 0), `${day(0)}2 critical, 6 high, 14 medium, 5 low, 2 images not known`);
  assert.equal(await cell("Open findings", 40), `${day(40)}not known`, "a day without a count");
  assert.equal(await cell("Open findings", 80), `${day(80)}not known`, "before the first one");
  await findings.getByText("2 images are not in it").waitFor();
  await findings.getByText("Hatched: not known").waitFor();
  assert.equal(await cell("Pulls", 0), `${day(0)}0 pulls`);
  assert.match((await cell("Pulls", 24)) ?? "", /pulls, at least$/, "counted only since a time of this day");
  assert.equal(await cell("Pulls", 27), `${day(27)}not known`);

  const stranger = await platform.identity(platform.organization, "registry.pull");
  const other = await console_.signedIn({ identity: stranger });
  await other.getByRole("region", { name: "Pulls, 30 days" }).getByText("You need CAP_USAGE_LIST here").waitFor();
  assert.deepEqual(console_.complaints, []);
});

test("Home says what needs attention, with what nobody could look at, and leads to where it is seen to", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform } = console_;
  const nowMs = platform.clock.nowMs();
  const { repos } = await platform.ok<{ repos: { uid: string }[] }>("GET", "/registry/v2/repos?name=app");
  const mirror = {
    actor: "",
    password: "",
    holder: "",
    hold_until: 0,
    tags_seen: 0,
    manifests_copied: 0,
    bytes_copied: 0,
  };
  await platform.transact(async (tx) => {
    await tx
      .insertInto("mirrors")
      .values({
        ...mirror,
        repo: repos[0]?.uid ?? "",
        next_time: nowMs + DAY_MS,
        state: 4,
        message: "the source answers 429",
        attempt_time: nowMs,
        success_time: null,
        failures: 2,
      })
      .execute();
  });
  const page = await console_.signedIn();
  const card = page.getByRole("region", { name: "Needs attention" });
  await card.getByText("A mirror fails").waitFor();
  await card.getByText("acme/app · the source answers 429").waitFor();
  await card.getByText("No vulnerability data").waitFor();
  await card.getByText("1 check of 11 is incomplete").click();
  await card.getByText("Exploited vulnerabilities in what is pulled: no feed says which are exploited").waitFor();
  for (const name of ["Open findings", "Pulls, yesterday", "Storage", "Traffic, yesterday"])
    await page.getByRole("group", { name, exact: true }).getByRole("img").waitFor();
  await card.getByRole("link", { name: "Open: A mirror fails" }).click();
  await page.getByRole("heading", { name: "acme/app" }).waitFor();

  const stranger = await platform.identity(platform.organization, "registry.pull");
  const other = await console_.signedIn({ identity: stranger });
  const own = other.getByRole("region", { name: "Needs attention" });
  await own.getByText(/checks of 11 are incomplete/).click();
  await own.getByText("Deliveries of webhooks: you need CAP_EVENTS_SUBSCRIPTION_LIST").waitFor();
  assert.equal(await own.getByText("Nothing needs attention.").count(), 0, "what was not looked at is not well");
  assert.deepEqual(console_.complaints, []);
});
