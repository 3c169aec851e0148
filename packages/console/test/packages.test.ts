import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../server/test/support/eventually.ts";
import { pomText, putMaven } from "../../server/test/support/maven.ts";
import { npmPath, publishDocument, publishNpm } from "../../server/test/support/npm.ts";
import { uploadPypi, wheelOf } from "../../server/test/support/pypi.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

const HOSTILE = "<img src=x onerror=alert(1)>";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  if (opened === undefined) return;
  const { platform } = opened;
  for (const version of ["1.0.0", "1.1.0"])
    await publishNpm(platform, "acme", "@acme/forms", version, { manifest: { description: HOSTILE, license: "MIT" } });
  const wheel = {
    name: "acme-ledger",
    version: "2.4.0",
    lines: ["Description-Content-Type: text/markdown"],
    readme: `# Ledger\n\n${HOSTILE}\n`,
  };
  await uploadPypi(platform, "acme", { ...wheel, ...wheelOf(wheel) });
});
after(() => opened?.close());

test("a person finds a package, copies how it is installed, sees its files, and deprecates a version", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn();
  await page.getByRole("link", { name: "Packages" }).first().click();
  await page.getByRole("searchbox", { name: "Find packages" }).fill("forms");
  await page.waitForURL(/q=forms/);
  await page.getByRole("link", { name: "@acme/forms" }).click();
  await page.getByRole("heading", { name: "@acme/forms" }).waitFor();
  await page.getByText(HOSTILE).first().waitFor();
  const install = page.getByRole("region", { name: "Install" });
  await install.getByText("npm install @acme/forms@1.1.0").waitFor();
  await install.getByText("pnpm", { exact: true }).click();
  await install.getByText("pnpm add @acme/forms@1.1.0").waitFor();
  await install.getByText("First time here?").click();
  await install.getByText(/@acme:registry=http.*\/npm\/acme\//).waitFor();
  await page.getByRole("table", { name: "Files of 1.1.0" }).getByText("forms-1.1.0.tgz").waitFor();

  const versions = page.getByRole("table", { name: "Versions" });
  await versions.getByRole("link", { name: "1.0.0" }).click();
  await page.getByRole("table", { name: "Files of 1.0.0" }).waitFor();
  await versions.getByRole("button", { name: "Actions for @acme/forms 1.0.0" }).click();
  await page.getByRole("menuitem", { name: "Deprecate" }).click();
  await page.getByRole("dialog").getByLabel("What to use instead").fill("use 1.1.0");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await versions.getByRole("row", { name: /1\.0\.0.*Deprecated/ }).waitFor();
  assert.deepEqual(complaints, []);
});

test("packages and versions have their downloads, which are no 0 where they are not known", async (t) => {
  const { signedIn, platform, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  await publishNpm(platform, "acme", "counted", "1.0.0");
  await publishNpm(platform, "acme", "counted", "1.1.0");
  const token = await platform.token();
  for (let times = 0; times < 3; times += 1)
    assert.equal((await platform.call("GET", "/npm/acme/counted/-/counted-1.0.0.tgz", { token })).status, 200);
  await eventually(
    async () =>
      (await platform.reader.selectFrom("download_days").select("count").where("count", "=", 3).execute()).length === 2,
  );
  const page = await signedIn();
  const cells = (table: string, name: RegExp) => page.getByRole("table", { name: table }).getByRole("row", { name });
  await page.goto("/packages?q=counted");
  await cells("Packages", /counted .* 3\+ /).waitFor();
  // Counting has just begun: of the days before nothing is known.
  await page
    .getByTitle(/^Counted only since/)
    .first()
    .waitFor();
  const since = platform.clock.nowMs() - 60 * 86_400_000;
  await platform.transact(async (tx) => void (await tx.updateTable("download_coverage").set({ since }).execute()));
  await page.reload();
  await cells("Packages", /counted .* 3 /).waitFor();
  await page.getByRole("link", { name: "counted" }).click();
  await cells("Versions", /1\.0\.0 .* 3 /).waitFor();
  await cells("Versions", /1\.1\.0 .* 0 /).waitFor();
  assert.deepEqual(complaints, []);
});

test("a version says what its publisher attests of it and that nobody verified it here, and shows its readme", async (t) => {
  const { signedIn, platform, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const name = "@acme/proven";
  const statement = { _type: "https://in-toto.io/Statement/v1", predicateType: "https://slsa.dev/provenance/v1" };
  const payload = Buffer.from(JSON.stringify(statement)).toString("base64");
  const bundle = { mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json", dsseEnvelope: { payload } };
  const data = JSON.stringify(bundle);
  const document = publishDocument(name, "1.0.0");
  const attached = { [`${name}-1.0.0.sigstore`]: { content_type: bundle.mediaType, data, length: data.length } };
  const readme = `# Proven\n\n${HOSTILE}\n${"long ".repeat(14_000)}`;
  const body = { ...document, readme, _attachments: { ...attached, ...(document["_attachments"] as object) } };
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  assert.equal((await platform.call("PUT", npmPath("acme", name), { token, body })).status, 201);
  const page = await signedIn();
  await page.goto("/packages?q=proven");
  await page.getByRole("link", { name }).click();
  await page.getByText("SLSA provenance 1; not verified here, npm audit signatures does").waitFor();
  await page.getByRole("link", { name: "Readme" }).click();
  await page.getByRole("heading", { name: "Proven" }).waitFor();
  await page.getByText("Truncated: only the beginning of the readme is stored.").waitFor();
  assert.equal(await page.locator("img[src='x']").count(), 0);
  await page.goto("/packages?q=forms");
  await page.getByRole("link", { name: "@acme/forms" }).click();
  await page.getByText("Not attached").waitFor();
  assert.deepEqual(complaints, []);
});

test("where no feed covers a registry, it is not known what is wrong with a package, and no number says so", async (t) => {
  const { signedIn } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn();
  await page.goto("/packages?ecosystem=PyPI");
  await page.getByRole("link", { name: "acme-ledger" }).click();
  await page.getByText("pip install acme-ledger==2.4.0").waitFor();
  await page.getByRole("table", { name: "Files of 2.4.0" }).getByText("acme_ledger-2.4.0-py3-none-any.whl").waitFor();
  await page.getByText("In no image that was read.").waitFor();
  await page.getByRole("link", { name: "Readme" }).click();
  await page.getByRole("heading", { name: "Ledger", exact: true }).waitFor();
  assert.equal(await page.locator("img[src='x']").count(), 0);
  await page.getByRole("link", { name: "Findings no data" }).click();
  await page.getByRole("heading", { name: "Not known: no data" }).waitFor();
  await page.getByText("moorage feeds add osv-pypi").waitFor();
});

test("a person adds an upstream and a policy, and sees what it has blocked", async (t) => {
  const { signedIn, platform, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const page = await signedIn();
  const dialog = page.getByRole("dialog");
  await page.goto("/packages/upstreams");
  await page.getByRole("button", { name: "New upstream" }).click();
  // Without a group in the address the form asks for it first.
  await dialog.getByLabel("In which group?").selectOption({ label: "acme" });
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByLabel("Address").fill("http://127.0.0.1:9/npm/");
  await dialog.getByLabel("Reserved names").fill("@acme/*");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("row", { name: /127\.0\.0\.1:9\/npm.*Not asked yet/ }).waitFor();

  await page.getByRole("link", { name: "Policies" }).click();
  await page.getByRole("button", { name: "New policy" }).click();
  await dialog.getByLabel("In which group?").selectOption({ label: "acme" });
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByLabel("Mode").selectOption({ label: "Enforce: clients do not get what it blocks" });
  await dialog.getByLabel("Blocked packages").fill("pkg:npm/%40acme/forms@1.0.0");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("row", { name: /npm acme Enforced versions younger than 7 days; malware; 1 named/ }).waitFor();

  const token = await platform.token();
  const refused = await platform.call("GET", "/npm/acme/@acme/forms/-/forms-1.0.0.tgz", { token });
  assert.equal(refused.status, 403);
  // It is written after the answer.
  await eventually(
    async () => (await platform.ok<{ blocks: unknown[] }>("GET", "/libraries/v2/blocks")).blocks.length > 0,
  );
  await page.goto("/packages/blocked");
  await page.getByRole("row", { name: /@acme\/forms 1\.0\.0.*Named by the policy/ }).waitFor();
  await page.goto("/packages?q=forms");
  await page.getByRole("link", { name: "@acme/forms" }).click();
  await page.getByRole("row", { name: /1\.0\.0.*Blocked: Named by the policy/ }).waitFor();
  await page.getByText("Name is reserved").waitFor();
  assert.deepEqual(complaints, []);
});

test("a version says who published it, and what it depends on where its metadata are kept", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const jar = "com/acme/checkout/1.9.2/checkout-1.9.2";
  const named = `<dependencies>
    <dependency><groupId>org.example</groupId><artifactId>pad</artifactId><version>1.3</version></dependency>
    <dependency><groupId>org.example</groupId><artifactId>check</artifactId><scope>test</scope></dependency>
  </dependencies></project>`;
  await putMaven(platform, "acme", `${jar}.jar`, "a jar");
  await putMaven(platform, "acme", `${jar}.pom`, pomText("com.acme", "checkout", "1.9.2").replace("</project>", named));
  await putMaven(platform, "acme", "com/acme/checkout/maven-metadata.xml", "<metadata/>");
  const page = await signedIn();
  await page.goto("/packages?q=checkout");
  await page.getByRole("link", { name: "com.acme:checkout" }).click();
  await page.getByText("org.example:pad 1.3", { exact: true }).waitFor();
  await page.getByText("org.example:check version by its parent (test)", { exact: true }).waitFor();
  await page.getByText("Published here by").waitFor();
  await page.getByRole("table", { name: "Versions" }).getByRole("link", { name: "owner" }).waitFor();
  // What was uploaded of a Python project is in its files alone.
  await page.goto("/packages?q=acme-ledger");
  await page.getByRole("link", { name: "acme-ledger" }).click();
  await page.getByText("Not known: its metadata are in its files alone.").waitFor();
  assert.deepEqual(complaints, []);
});
