// Feeds on loopback, under the paths that the presets have where they are published.
import type { TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { startFeedServer } from "../../server/test/support/feed-server.ts";
import { zipOf } from "../../server/test/support/zip.ts";

const ECOSYSTEMS = [
  "npm",
  "PyPI",
  "Maven",
  "Go",
  "crates.io",
  "NuGet",
  "Packagist",
  "RubyGems",
  "Hex",
  "Pub",
  "SwiftURL",
];

/** Starts a server with the files of the presets of languages, KEV and EPSS; returns its URL. */
export async function publishedFeeds(t: TestContext): Promise<string> {
  const { url, pages } = await startFeedServer(t);
  for (const ecosystem of [...ECOSYSTEMS, "CRAN"])
    pages.set(`/${ecosystem}/all.zip`, { content: zipOf([recordOf(ecosystem)]) });
  pages.set("/sites/default/files/feeds/known_exploited_vulnerabilities.json", {
    content: JSON.stringify({ vulnerabilities: [{ cveID: "CVE-2026-9999", dateAdded: "2026-01-01" }] }),
  });
  pages.set("/epss_scores-current.csv.gz", {
    content: gzipSync("#v\ncve,epss,percentile\nCVE-2026-9999,0.5,0.9\n"),
  });
  return url;
}

function recordOf(ecosystem: string): { name: string; content: string } {
  const id = `PUBLISHED-${ecosystem.toUpperCase().replace(".", "-")}-1`;
  const affected = [{ package: { ecosystem, name: "published/example" }, versions: ["1.0.0"] }];
  return {
    name: `${id}.json`,
    content: JSON.stringify({ id, modified: "2026-11-01T08:00:00Z", aliases: ["CVE-2026-9999"], affected }),
  };
}
