// npm run screenshots: takes the pictures of docs/console.md, of a server of its own with a team's images. Whoever runs
// it looks at them: nothing overlaps, nothing is cut.
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { openConsole } from "../packages/console/test/support/console.ts";
import { fillShowcase } from "../packages/console/test/support/showcase.ts";

const SIZE = { width: 1280, height: 800 };
const folder = join(dirname(import.meta.dirname), "docs/images");

const opened = await openConsole({ MOORAGE_CATALOG_IMAGES: "1", MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
if (opened === undefined) {
  console.error("no Chromium on this machine: apt-get install chromium");
  process.exit(1);
}
try {
  const { organization, repo, digest, advisory, identity, subscription, artifact, policy } = await fillShowcase(
    opened.platform,
  );
  const pages: Readonly<Record<string, string>> = {
    home: "/",
    images: "/repo?name=acme/web",
    timeline: "/tag?name=acme/web:latest",
    compare: "/compare?from=acme/web:1.0.0&to=acme/web:1.2.0",
    image: `/image?name=acme/web@${digest}&part=findings`,
    package: `/package?uid=${artifact}`,
    vulnerability: "/vulnerability?id=CVE-2026-31337",
    advisory: `/advisory?uid=${advisory}`,
    access: `/access/explain?identity=${identity}&action=pull&resource=acme/web:latest`,
    settings: "/repo/settings?name=acme/web",
    events: "/events",
    subscription: `/events/subscription?uid=${subscription}`,
    operations: "/operations",
    signatures: `/signatures/policy?uid=${policy}`,
    quotas: "/operations/quotas",
    usage: `/operations/usage?group=${organization}`,
  };
  mkdirSync(folder, { recursive: true });
  const page = await opened.signedIn({ options: { viewport: SIZE, colorScheme: "light", reducedMotion: "reduce" } });
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.waitForTimeout(1_500);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    console.log(`docs/images/${name}.png: ${path}`);
  }
  if (opened.complaints.length > 0) console.error(opened.complaints.join("\n"));
  console.log(`of the repo ${repo}`);
} finally {
  await opened.close();
}
process.exit(0);
