import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import type { Browser } from "playwright-core";
import { environment, LAUNCHER, program, temporaryFolder } from "../../cli/test/commands.ts";
import { newAccount, PASSWORD } from "../../server/test/support/accounts.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { type Platform, startPlatform } from "../../server/test/support/platform.ts";
import { needs, newPage, openBrowser } from "./support/console.ts";

// The command is signed in with an account of the server, by a real browser on the same machine and on another one.
let browser: Browser | undefined;
let platform: Platform | undefined;
let ada: string;
before(async () => {
  browser = await openBrowser();
  if (browser === undefined) return;
  platform = await startPlatform();
  ({ identity: ada } = await newAccount(platform, "ada"));
});
after(async () => {
  await browser?.close();
  await platform?.close();
});

interface Signing {
  child: ChildProcess;
  output(): string;
  /** What the first group of the pattern holds, once the command has printed it. */
  said(pattern: RegExp): Promise<string>;
  ended: Promise<number>;
}

/** Runs `moorage login`, whose output goes to a pipe. */
function login(t: TestContext, folder: string, flags: readonly string[]): Signing {
  const child = spawn(process.execPath, [LAUNCHER, "login", ...flags], {
    cwd: folder,
    env: environment({ XDG_CONFIG_HOME: join(folder, "config") }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  return {
    child,
    output: () => output,
    said: (pattern) => eventually(() => pattern.exec(output)?.[1]),
    ended: once(child, "exit").then(([code]) => Number(code)),
  };
}

async function whoami(folder: string): Promise<string> {
  const { stdout, stderr } = await program(["whoami"], {
    cwd: folder,
    env: { XDG_CONFIG_HOME: join(folder, "config") },
  });
  return stdout + stderr;
}

test("a device whose command named the organization is signed in by its code and a password", async (t) => {
  const opened = needs(t, browser);
  if (opened === undefined || platform === undefined) return;
  const folder = temporaryFolder(t);
  const signing = login(t, folder, ["--url", platform.url, "--organization", "acme", "--device"]);
  const code = await signing.said(/type the code (\S+)/);
  const page = await newPage(opened, platform.url);
  await page.goto("/oauth/device");
  await page.getByLabel("The code that the device shows").fill(code);
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("button", { name: "Sign it in" }).click();
  await page.getByText("A program is asking to act as you.").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("ada");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in with a password" }).click();
  await page.getByText("The device is signed in.").waitFor();
  assert.equal(await signing.ended, 0, signing.output());
  assert.ok((await whoami(folder)).includes(`identity: ${ada}`));
  // The device was signed in, and not the browser in which that was done.
  await page.goto("/");
  await page.waitForURL(/\/login/);
});

test("a device that is declined gets nothing", async (t) => {
  const opened = needs(t, browser);
  if (opened === undefined || platform === undefined) return;
  const folder = temporaryFolder(t);
  const signing = login(t, folder, ["--url", platform.url, "--organization", "acme", "--device"]);
  const page = await newPage(opened, platform.url);
  await page.goto(`/oauth/device?user_code=${await signing.said(/type the code (\S+)/)}`);
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByText("The device is not signed in.").waitFor();
  assert.notEqual(await signing.ended, 0, signing.output());
  assert.match(await whoami(folder), /not signed in/);
});

test("the command on the same machine is signed in by the address that it prints", async (t) => {
  const opened = needs(t, browser);
  if (opened === undefined || platform === undefined) return;
  const folder = temporaryFolder(t);
  const signing = login(t, folder, ["--url", platform.url, "--organization", "acme"]);
  const page = await newPage(opened, platform.url);
  await page.goto(await signing.said(/^(http\S+\/oauth\/authorize\S+)$/m));
  await page.getByLabel("Name", { exact: true }).fill("ada");
  await page.getByLabel("Password").fill(`${PASSWORD}!`);
  await page.getByRole("button", { name: "Sign in with a password" }).click();
  await page.getByText("the name or the password is not right").waitFor();
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in with a password" }).click();
  await page.getByText("You may close this page").waitFor();
  assert.equal(await signing.ended, 0, signing.output());
  assert.ok((await whoami(folder)).includes(`identity: ${ada}`));
});

test("where several organizations have accounts, people say which, in the browser and for a device", async (t) => {
  const opened = needs(t, browser);
  if (opened === undefined || platform === undefined) return;
  const beta = await platform.ok("POST", "/iam/v2/groups", { name: "beta" });
  // The same name in another organization is another person.
  const { identity } = await newAccount(platform, "ada", { group: beta.uid, password: `${PASSWORD} elsewhere` });
  const here = await platform.call("GET", "/session/password");
  assert.deepEqual(here.body, { accounts: true, needsOrganization: true });
  const page = await newPage(opened, platform.url);
  await page.goto("/login");
  const form = page.locator("form").filter({ has: page.getByRole("button", { name: "Sign in with a password" }) });
  await form.getByLabel("Organization").fill("acme");
  await form.getByLabel("Name", { exact: true }).fill("ada");
  await form.getByLabel("Password").fill(`${PASSWORD} elsewhere`);
  await form.getByRole("button", { name: "Sign in with a password" }).click();
  await page.getByText("the name or the password is not right").waitFor();
  await form.getByLabel("Organization").fill("beta");
  await form.getByRole("button", { name: "Sign in with a password" }).click();
  await page.waitForURL("/");

  const folder = temporaryFolder(t);
  const signing = login(t, folder, ["--url", platform.url, "--device", "--organization", ""]);
  const other = await newPage(opened, platform.url);
  await other.goto(`/oauth/device?user_code=${await signing.said(/type the code (\S+)/)}`);
  await other.getByRole("button", { name: "Go on" }).click();
  await other.getByRole("button", { name: "Sign it in" }).click();
  await other.getByLabel("The name of your organization").fill("beta");
  await other.getByRole("button", { name: "Go on" }).click();
  await other.getByRole("button", { name: "accounts" }).click();
  await other.getByLabel("Name", { exact: true }).fill("ada");
  await other.getByLabel("Password").fill(`${PASSWORD} elsewhere`);
  await other.getByRole("button", { name: "Sign in with a password" }).click();
  await other.getByText("The device is signed in.").waitFor();
  assert.equal(await signing.ended, 0, signing.output());
  assert.ok((await whoami(folder)).includes(identity));
});
