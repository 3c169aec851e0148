import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { loadConfig, readBootstrap, signToken } from "../../server/src/index.ts";
import { databaseEnv, dropDatabase } from "../../server/test/support/database.ts";
import { temporaryFolder } from "../../server/test/support/installation.ts";
import { startProcess } from "../../server/test/support/processes.ts";
import { freePort } from "../../server/test/support/unused-port.ts";
import { codeOf, needs, newPage, openBrowser, signIn } from "./support/console.ts";

// A server that is killed and started again under an open page.
let opened: Browser | undefined;
before(async () => {
  opened = await openBrowser();
});
after(() => opened?.close());

test("while the server is down the page says so; when it is back the person is still signed in", async (t) => {
  const browser = needs(t, opened);
  if (browser === undefined) return;
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  // The address is part of the settings, so it is known before the server starts.
  const port = String(await freePort());
  const baseUrl = `http://127.0.0.1:${port}`;
  const settings = { MOORAGE_DATA_DIR: dataDir, MOORAGE_BASE_URL: baseUrl, MOORAGE_HOST: "127.0.0.1" };
  const env = { ...settings, MOORAGE_PORT: port, ...(await databaseEnv(dataDir)) };
  const server = await startProcess(t, env);
  const { token } = await signToken({ config: loadConfig(env), audience: "platform", ttlMs: 3_600_000 });
  const page = await newPage(browser, baseUrl);
  await signIn(page, token);
  await page.goto("/sessions");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await codeOf(page, "audit-page");
  await page.getByRole("button", { name: "Activity" }).click();

  await server.stop("SIGKILL");
  await page.getByRole("link", { name: "Audit log" }).first().click();
  await page.getByText("The server is not responding").first().waitFor();

  await startProcess(t, env);
  await page.getByRole("heading", { name: "Audit log" }).first().waitFor();
  await page.getByRole("table").first().waitFor();
  const { organization } = readBootstrap(dataDir);
  const made = await fetch(`${baseUrl}/registry/v2/repos/${organization.uid}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "after-the-restart" }),
    signal: AbortSignal.timeout(30_000),
  });
  assert.equal(made.status, 200);
  await page.goto("/images?view=flat");
  await page.getByRole("link", { name: "after-the-restart" }).first().waitFor();
});
