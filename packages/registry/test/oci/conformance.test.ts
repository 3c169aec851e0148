import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { blobChecks } from "../../../server/test/support/conformance/blobs.ts";
import { createClient, type RegistryClient } from "../../../server/test/support/conformance/client.ts";
import { emptyContent } from "../../../server/test/support/conformance/content.ts";
import { KINDS, tagged } from "../../../server/test/support/conformance/kinds.ts";
import { checkContent } from "../../../server/test/support/conformance/manifests.ts";
import {
  checkNegotiation,
  checkNothingYet,
  checkReferrerOrder,
  checkRejections,
  checkSparse,
  checkTagPages,
} from "../../../server/test/support/conformance/rules.ts";
import { type Run, VERSIONS } from "../../../server/test/support/conformance/settings.ts";
import { sized } from "../../../server/test/support/extent.ts";
import { startInstallation } from "../../../server/test/support/installation.ts";

// Checks what the conformance suite of the OCI distribution specification checks, and other parts of the specification
// that clients rely on. Where the suite itself is available, .ci/conformance.sh runs it. Nothing is skipped here that
// the suite would only count as unsupported, except for a mount without a source.

interface Setting {
  version: keyof typeof VERSIONS;
  /** The token used as the password at the token endpoint. */
  password: "platform" | "registry";
  cachesTokens: boolean;
}

/** The version that clients have, and the kind of credential that takes the longer way. */
const USUAL: Record<string, Setting> = {
  "version 1.1 with a platform token": { version: "1.1", password: "platform", cachesTokens: true },
};

/** Covers each version, each kind of credential, and clients with and without a token cache. */
const SETTINGS = sized(USUAL, {
  "version 1.0 with a registry token": { version: "1.0", password: "registry", cachesTokens: true },
  ...USUAL,
  "the draft after 1.1, a token fetched for each request": {
    version: "dev",
    password: "registry",
    cachesTokens: false,
  },
});

test("OCI conformance", { concurrency: true }, async (t) => {
  const installation = await startInstallation(t);
  const check = async ([name, setting]: [string, Setting], at: number): Promise<void> => {
    const { version, password, cachesTokens } = setting;
    const newClient = (): RegistryClient => createClient(installation.url, installation[password], cachesTokens);
    const client = newClient();
    const run = {
      client,
      newClient,
      expects: VERSIONS[version],
      cachesTokens,
      repository: `acme/conformance/run-${at}`,
      source: `acme/conformance/source-${at}`,
      sparse: `acme/sparse-${at}`,
    };
    await installation.api("POST", `/registry/v2/repos/${installation.bootstrap.organization.uid}`, {
      name: `sparse-${at}`,
      tagPolicy: { allowSparse: true },
    });
    await t.test(name, async (t) => {
      try {
        await checkAll(t, run);
        await t.test("tokens were fetched as the setting says", () => {
          if (cachesTokens) assert.ok(client.tokensFetched() < 20, `${client.tokensFetched()} tokens`);
          else assert.ok(client.tokensFetched() > 1_000, `${client.tokensFetched()} tokens`);
        });
      } finally {
        client.close();
      }
    });
  };
  await Promise.all(Object.entries(SETTINGS).map(check));
});

async function checkAll(t: TestContext, run: Run): Promise<void> {
  await checkNothingYet(t, run);
  for (const algorithm of ["sha256", "sha512"] as const)
    await t.test(`blobs by ${algorithm}`, (t) => blobChecks(algorithm)(t, run));
  for (const [name, build] of Object.entries(KINDS)) {
    const content = emptyContent();
    build(content);
    await t.test(name, (t) => checkContent(t, run, content));
  }
  if (run.expects.tagParameters)
    for (const algorithm of ["sha256", "sha512"] as const)
      await t.test(`tags as parameters, by ${algorithm}`, (t) => checkContent(t, run, tagged(algorithm), true));
  await t.test("manifests that are rejected or do not exist", (t) => checkRejections(t, run));
  await t.test("sparse manifests", (t) => checkSparse(t, run));
  await t.test("pages of tags", (t) => checkTagPages(t, run));
  await t.test("content negotiation", (t) => checkNegotiation(t, run));
  if (run.expects.referrers) await t.test("the order of referrer and subject", (t) => checkReferrerOrder(t, run));
}
