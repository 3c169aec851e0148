// Part 3c: a finding opens when a feed is imported, and closes when an advisory is approved.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openRegistry } from "../oci/registry.ts";
import { expect, heading, show, table } from "./show.ts";
import { restOk, type Stage } from "./stage.ts";

type Finding = {
  vulnerability: string;
  digest: string;
  tags: string[];
  package: { purl: string };
  severity: string;
  fixVersions: string[];
  closeReason: string;
  decision?: { advisoryId: string; justification: string };
};
type Index = { manifests: { digest: string; platform: { os: string; architecture: string } }[] };
type FindingEvent = {
  type: string;
  data: { body: { repository: string; digest: string; tags: string[]; findings: number; worst: string; open: number } };
};

const ATTEMPTS = 300;
const BETWEEN_ATTEMPTS_MS = 200;
const ID = "CVE-2026-0001";
/** What somebody publishes about a package of the sample image. */
const RECORD = {
  id: "ACME-2026-1",
  modified: "2026-11-01T08:00:00Z",
  aliases: [ID],
  severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }],
  affected: [
    {
      package: { ecosystem: "npm", name: "hello" },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "1.3.0" }] }],
    },
  ],
};

/** Imports a feed, decides about what is found, and shows both with the events of them. */
export async function playFinding({ url, token, moorage, folder, bootstrap: { organization } }: Stage): Promise<void> {
  heading("3c. A finding that opens and closes");
  const records = join(folder, "acme-osv");
  await mkdir(records);
  await writeFile(join(records, `${RECORD.id}.json`), JSON.stringify(RECORD));
  const imported = await moorage("feeds", "import", records, "--licence", "CC0-1.0");
  show("moorage feeds import acme-osv --licence CC0-1.0", imported.split("\n").at(-1) ?? "");
  const list = async (state: string): Promise<Finding[]> => {
    const query = new URLSearchParams({ "uidp.descendants_of": organization.uid, vulnerabilities: ID, state });
    return (await restOk<{ findings: Finding[] }>(`${url}/vulnerabilities/v2/findings?${query}`, "GET", token))
      .findings;
  };
  const platforms = await platformsOf({ url, token }, `${organization.name}/hello`);
  const open = await until("findings", list.bind(undefined, "OPEN"), ({ length }) => length > 0);
  show(`GET /vulnerabilities/v2/findings?vulnerabilities=${ID}`, `${open.length} open, a second later`);
  table(
    ["vulnerability", "severity", "tags", "platform", "package", "fixed in"],
    open.map((each) => [
      each.vulnerability,
      each.severity.replace("FINDING_SEVERITY_", ""),
      each.tags.join(", "),
      platforms.get(each.digest) ?? "",
      each.package.purl,
      each.fixVersions.join(", "),
    ]),
  );
  const query = new URLSearchParams({ group: organization.uid, type_prefixes: "dev.moorage.vulnerabilities." });
  const emitted = async (): Promise<FindingEvent[]> => {
    const { events } = await restOk<{ events: FindingEvent[] }>(`${url}/events/v2/events?${query}`, "GET", token);
    // The images of the first build, to which no tag points any more, have events, too.
    return events.filter(({ data }) => data.body.tags.includes("latest"));
  };
  // What opens and closes before it was looked at has no events.
  await until("events", emitted, ({ length }) => length >= open.length);
  const { advisoryId } = await restOk<{ advisoryId: string }>(
    `${url}/vulnerabilities/v2/advisories/${organization.uid}`,
    "POST",
    token,
    {
      artifactName: `${organization.name}/hello`,
      artifactType: "OCI_IMAGE",
      aliases: [ID],
      events: [
        {
          reviewState: "APPROVED",
          falsePositiveDetermination: { type: "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH" },
        },
      ],
    },
  );
  show("POST /vulnerabilities/v2/advisories/<acme>", `${advisoryId}: not in the execution path, approved`);
  const closed = await list("CLOSED");
  expect((await list("OPEN")).length === 0, "the advisory did not close the findings");
  expect(closed.length === open.length, `other findings are closed than were open: ${JSON.stringify(closed)}`);
  expect(closed[0]?.decision?.advisoryId === advisoryId, "the findings do not name the advisory");
  show(
    "GET /vulnerabilities/v2/findings?state=CLOSED",
    `${closed[0].closeReason}, ${closed[0].decision.justification}`,
  );
  const events = await until("events", emitted, ({ length }) => length === 2 * open.length);
  table(
    ["event", "repository", "platform", "findings", "worst", "open then"],
    events.map(({ type, data: { body } }) => [
      type,
      `${body.repository}:${body.tags.join(", ")}`,
      platforms.get(body.digest) ?? "",
      String(body.findings),
      body.worst.replace("FINDING_SEVERITY_", ""),
      String(body.open),
    ]),
  );
}

/** The platforms of the images that the tag `latest` names, by their digests. */
async function platformsOf({ url, token }: Pick<Stage, "url" | "token">, repository: string) {
  const index = await openRegistry({ url, password: token }).pullManifest(repository, "latest");
  const { manifests } = JSON.parse(index.bytes.toString()) as Index;
  return new Map(manifests.map(({ digest, platform }) => [digest, `${platform.os}/${platform.architecture}`]));
}

async function until<T>(what: string, ask: () => Promise<T>, isDone: (answer: T) => boolean): Promise<T> {
  for (let left = ATTEMPTS; left > 0; left -= 1) {
    const answer = await ask();
    if (isDone(answer)) return answer;
    await wait(BETWEEN_ATTEMPTS_MS);
  }
  throw new Error(`the ${what} did not come`);
}
