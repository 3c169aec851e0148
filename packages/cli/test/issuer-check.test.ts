import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openIssuer } from "../../server/test/support/issuer.ts";
import { temporaryFolder } from "./commands.ts";
import { openQuick } from "./quick.ts";

test("whoever gives an identity an issuer hears why it cannot be used", async (t) => {
  const { as } = await openQuick(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "true" });
  const [good, broken] = await Promise.all([openIssuer(), openIssuer()]);
  t.after(() => Promise.all([good.close(), broken.close()]));
  broken.routes.set("/.well-known/openid-configuration", (_request, response) =>
    response.writeHead(301, { location: `${good.url}/` }).end(),
  );
  const fault = `nobody can become it yet: the issuer ${broken.url} cannot be used: the answer is a redirect\n`;
  const by = (issuer: string): string[] => ["--claim-match-issuer", issuer, "--claim-match-subject", "main"];

  const made = await as("identities", "create", "acme/ci", ...by(broken.url), "-o", "name");
  assert.deepEqual([made.code, made.stdout, made.stderr], [0, "acme/ci\n", fault]);
  const other = await as("identities", "create", "acme/other", ...by(good.url), "-o", "name");
  assert.deepEqual([other.code, other.stdout, other.stderr], [0, "acme/other\n", ""]);
  const changed = await as("identities", "update", "acme/other", "--claim-match-issuer", broken.url, "-o", "name");
  assert.deepEqual([changed.code, changed.stderr], [0, fault]);

  const file = join(temporaryFolder(t), "machines.yaml");
  const machines = ["one", "two"].map((name) => ({
    kind: "Identity",
    parent: "acme",
    name,
    claimMatch: { issuer: broken.url, subject: name },
  }));
  writeFileSync(file, machines.map((each) => JSON.stringify(each)).join("\n---\n"));
  const applied = await as("apply", "-f", file);
  assert.equal(applied.code, 0, applied.stderr);
  assert.equal(applied.stderr.split(fault.trim()).length, 2, `said once: ${applied.stderr}`);

  const checked = await as("identities", "check", "acme/ci");
  assert.equal(checked.code, 1, "a script that goes on when it is checked stops");
  assert.match(checked.stdout, /^status: +(?:STATUS_)?NOT.READY/im);
  assert.equal((await as("identities", "update", "acme/ci", "--claim-match-issuer", good.url)).code, 0);
  assert.equal((await as("identities", "check", "acme/ci")).code, 0);
});
