import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const CRITICAL = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";
const MEDIUM = "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N";

interface Finding {
  vulnerability: string;
  aliases?: string[];
  severity: string;
  score: number;
  package: { name: string };
}

let platform: Platform;
let group = "";
let token = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  group = (await platform.group(platform.organization, { name: "team" })).uid;
  token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  await putRecords(platform, "debian", "osv", chain(MEDIUM));
});
after(() => platform.close());

/** Records of which each names the next one as its alias; the first and the last are about packages. */
function chain(severity: string): ReturnType<typeof osvOf>[] {
  const about = (name: string): object => ({
    affected: [
      {
        package: { ecosystem: "Debian:12", name },
        ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "1.1-1" }] }],
      },
    ],
  });
  return [
    osvOf("ONE-1", { aliases: ["TWO-1"], ...about("zlib1g"), severity: [{ type: "CVSS_V3", score: severity }] }),
    osvOf("TWO-1", { aliases: ["THREE-1"] }),
    osvOf("THREE-1", { aliases: ["FOUR-1"] }),
    osvOf("FOUR-1", { ...about("openssl"), severity: [{ type: "CVSS_V3", score: CRITICAL }] }),
  ];
}

/** Pushes an image with these packages into a repo of its own, and waits for the finding in the first of them. */
async function findingOf(repo: string, packages: readonly string[], severity?: string): Promise<Finding> {
  const status = packages
    .map((name) => `Package: ${name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.0-1\n`)
    .join("\n");
  const layer = tarOf([
    { path: "etc/os-release", content: 'ID=debian\nVERSION_ID="12"\n' },
    { path: "var/lib/dpkg/status", content: status },
  ]);
  const { uid } = await platform.repo(group, { name: repo });
  const name = `${platform.bootstrap.organization.name}/team/${repo}`;
  await pushLayers({ url: platform.url, token, name }, "v1", [layer]);
  return await reported(uid, packages.length, ({ severity: own }) => severity === undefined || own === severity);
}

async function reported(repo: string, count: number, isWanted: (finding: Finding) => boolean): Promise<Finding> {
  return await eventually(async () => {
    const answer = await platform.ok("GET", `/vulnerabilities/v2/findings?repo=${repo}`);
    const found = (answer["findings"] ?? []) as Finding[];
    const own = found.find((finding) => finding.package.name === "zlib1g");
    return found.length === count && own !== undefined && isWanted(own) ? own : undefined;
  });
}

const ofVulnerability = ({ vulnerability, aliases, severity, score }: Finding): object => {
  return { vulnerability, aliases, severity, score };
};

test("a vulnerability is the same in every image, whichever others that holds, and ends with its feed's change", async () => {
  const alone = await findingOf("alone", ["zlib1g"]);
  const expected = {
    vulnerability: "FOUR-1",
    aliases: ["ONE-1", "THREE-1", "TWO-1"],
    severity: "FINDING_SEVERITY_MEDIUM",
    score: alone.score,
  };
  assert.deepEqual(ofVulnerability(alone), expected);
  assert.deepEqual(ofVulnerability(await findingOf("both", ["zlib1g", "openssl"])), expected);
  assert.deepEqual(ofVulnerability(await findingOf("again", ["zlib1g"])), expected);
  await putRecords(platform, "debian", "osv", chain(CRITICAL));
  const changed = await findingOf("later", ["zlib1g"], "FINDING_SEVERITY_CRITICAL");
  assert.ok(changed.score > alone.score);
});
