import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTaggedRepo } from "../../server/test/support/tagged-repo.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("a tag is looked at over time, compared, and rolled back", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const repo = await openTaggedRepo(platform, "clock");
  await repo.push("1.0", 0);
  await repo.push("1.0", 1);
  await repo.promote([{ name: "1.0", digest: repo.digests[2] }]);
  const [first, , third] = repo.digests;
  const page = await signedIn();
  await page.goto("/tag?name=acme/clock:1.0");
  const moves = page.getByRole("table", { name: "Moves" });
  await moves.getByText("promote", { exact: true }).waitFor();
  assert.equal(await moves.getByText("push", { exact: true }).count(), 2);
  const command = page.getByRole("group", { name: "pull command" });
  await command.getByText(`docker pull ${new URL(platform.url).host}/acme/clock@${third}`).waitFor();

  // Keys lead from move to move; the moment stands in the address.
  await page.getByRole("slider", { name: "Moment" }).focus();
  await page.keyboard.press("Home");
  await command.getByText(first).waitFor();
  await page.waitForURL(/at=/);
  // The version that is looked at stands beside the one of now. Nothing was read of these images.
  const beside = page.getByRole("region", { name: "A and B" });
  await beside.getByRole("group", { name: "A" }).getByText("Findings are not known").waitFor();
  await beside.getByText("not known", { exact: true }).waitFor();
  await beside.getByRole("link", { name: "Full comparison" }).waitFor();
  await page.getByLabel("Pull with").selectOption("skopeo");
  await command.getByText(`skopeo copy docker://${new URL(platform.url).host}/acme/clock@${first} oci:clock`).waitFor();

  await page.getByRole("button", { name: "Roll back to this version" }).click();
  await page.getByRole("dialog").getByText(third).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Roll back", exact: true }).click();
  await moves.getByText("rollback", { exact: true }).waitFor();
  assert.equal((await repo.tags())["1.0"], first);

  await page.getByRole("checkbox", { name: "Select row 1" }).check();
  await page.getByRole("checkbox", { name: "Select row 2" }).check();
  await page.getByRole("button", { name: "Compare two" }).click();
  await page.waitForURL(/\/compare\?/);
  const asked = new URL(page.url()).searchParams;
  assert.deepEqual([asked.get("from"), asked.get("to")], [`acme/clock@${third}`, `acme/clock@${first}`]);
  assert.deepEqual(complaints, []);
});

test("a rollback is not done when somebody else has moved the tag", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const repo = await openTaggedRepo(platform, "race");
  await repo.push("1.0", 0);
  await repo.push("1.0", 1);
  const page = await signedIn();
  await page.goto("/tag?name=acme/race:1.0");
  await page.getByRole("button", { name: "Earlier move" }).click();
  await page.getByRole("button", { name: "Roll back to this version" }).click();
  await repo.push("1.0", 2);
  await page.getByRole("dialog").getByRole("button", { name: "Roll back", exact: true }).click();
  await page
    .getByRole("alert")
    .getByText(/was expected to point to/)
    .waitFor();
  assert.equal((await repo.tags())["1.0"], repo.digests[2]);
  assert.deepEqual(complaints, []);
});

test("a history longer than a page: an earlier moment is known, and its moves are read when asked for", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const repo = await openTaggedRepo(platform, "old");
  await repo.push("1.0", 0);
  const firstMs = Date.parse("2020-01-01T00:00:00Z");
  const hourMs = 3_600_000;
  const digestOf = (at: number): string => `sha256:${String(at).padStart(64, "0")}`;
  await platform.transact(async (tx) => {
    for (let at = 0; at < 2_400; at += 400)
      await tx
        .insertInto("tag_history")
        .values(
          Array.from({ length: 400 }, (_, index) => ({
            repo: repo.uid,
            tag: "1.0",
            time: firstMs + (at + index) * hourMs,
            digest: digestOf(at + index),
            actor: platform.owner,
            reason: "push",
          })),
        )
        .execute();
  });
  const page = await signedIn();
  await page.goto(`/tag?name=acme/old:1.0&at=${new Date(firstMs + 5.5 * hourMs).toISOString()}`);
  await page.getByText(digestOf(5), { exact: true }).first().waitFor();
  const slider = page.getByRole("slider", { name: "Moment" });
  const oldest = async (): Promise<number> => Number(await slider.getAttribute("aria-valuemin"));
  assert.ok((await oldest()) > firstMs + 1_000 * hourMs);
  const more = page.getByRole("button", { name: "Show earlier moves" });
  await more.click();
  await more.click();
  await more.waitFor({ state: "detached" });
  assert.equal(await oldest(), firstMs);
  await slider.focus();
  await page.keyboard.press("Home");
  await page.getByText(digestOf(0), { exact: true }).first().waitFor();
  assert.deepEqual(complaints, []);
});
