import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { dayOf } from "../../kernel/src/lib/days.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { pushImage } from "../../server/test/support/image.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

const DAY_MS = 86_400_000;
const GIB = 1024 ** 3;

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_WORK_POLL: "20ms" });
});
after(() => opened?.close());

test("usage is shown by group and month; months of which nothing is known are said to be unknown", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const { organization } = platform;
  const team = await platform.group(organization, { name: "payments", costLabels: { "cost-center": "4711" } });
  const nowMs = platform.clock.nowMs();
  await platform.transact(async (tx) => {
    for (const [grp, daysAgo, bytes] of [
      [organization, 32, 4 * GIB],
      [organization, 0, 5 * GIB],
      [team.uid, 0, 2 * GIB],
    ] as const) {
      const time = nowMs - daysAgo * DAY_MS;
      await tx
        .insertInto("usage_days")
        .values({ grp, day: dayOf(time), bytes, at_least: 0, time })
        .execute();
    }
  });
  await pushImage(platform, "acme/payments/api", "1.0");
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  await platform.call("GET", "/v2/acme/payments/api/manifests/1.0", { token });
  await eventually(async () => {
    const { usage } = await platform.ok<{ usage: { pulls?: string }[] }>(
      "GET",
      `/registry/v2/usage?uidp.descendants_of=${team.uid}`,
    );
    return usage.at(-1)?.pulls === "1";
  });
  const page = await signedIn();
  await page.goto(`/operations/usage?group=${organization}`);
  await page.getByRole("group", { name: "Storage" }).getByText("5.00 GiB").waitFor();
  await page.getByRole("group", { name: "Growth" }).getByText("+1.00 GiB").waitFor();
  await page.getByText("Nothing is known about the time before that").waitFor();
  const months = page.getByRole("table", { name: "Traffic by month" });
  assert.equal(await months.getByRole("row").count(), 12);
  assert.equal(await months.getByRole("cell", { name: "not known" }).count(), 11);
  const row = page.getByRole("row", { name: /payments/ });
  await row.getByText("2.00 GiB").waitFor();
  await row.getByText("cost-center: 4711").waitFor();
  await row.getByText("at least 1", { exact: true }).waitFor();

  // A month before there were measurements: nothing of it is shown as 0.
  const past = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
  const name = past.format(Date.UTC(new Date(nowMs).getUTCFullYear(), new Date(nowMs).getUTCMonth() - 6, 1));
  await page.getByLabel("Month", { exact: true }).selectOption({ label: name });
  await page.getByRole("heading", { name: `By group, ${name}` }).waitFor();
  assert.equal(await row.getByText("not known").count(), 4);

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export as CSV" }).click(),
  ]);
  const lines = readFileSync(await download.path(), "utf8").split("\r\n");
  assert.match(lines[0] ?? "", /^group_uid,group,period,bytes,.*,label:cost-center$/);
  assert.ok(lines.some((line) => line.includes("payments") && line.endsWith(",true,4711")));

  await page.getByRole("link", { name: "payments" }).click();
  await page.getByRole("cell", { name: "payments, with all below it" }).waitFor();
  assert.deepEqual(complaints, []);
});
