import { type ListLibraryFindingsRequest, ListLibraryFindingsRequestSchema } from "@moorage/api/messages";
import { sql } from "kysely";
import { DEFAULT_PAGE_SIZE } from "@moorage/kernel/aip/page-query";
import { openPosition, pagedBy, sealPosition } from "@moorage/kernel/aip/positions";
import type { Scope } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { createTurns } from "@moorage/kernel/lib/turns";
import { librariesNamedBy } from "@moorage/security/security";
import { allEcosystems } from "../ecosystem/lookup.ts";
import { findingsIn, type LibraryFinding, matches, versionReader } from "./find.ts";
import { artifactsFrom, type WalkedArtifact, versionsFrom } from "./walk.ts";

const MAX_PAGE_SIZE = 200;
// A page ends after so many libraries or versions were looked at, however few findings they had.
const MAX_LIBRARIES = 5_000;
const MAX_VERSIONS = 5_000;
const BEHIND = "\u{10FFFF}";

/** Where a page ended: behind the vulnerability of the version. */
interface Position {
  artifact: string;
  sortKey: string;
  version: string;
  vulnerability: string;
}

/** A version that cannot be compared with those of records. */
interface UncomparedVersion {
  artifact: WalkedArtifact;
  version: string;
}

/** A page of findings, and the versions that it looked at and that could not be compared. */
export interface LibraryFindingsPage {
  rows: LibraryFinding[];
  nextPageToken: string;
  /** The first of them. */
  notCompared: UncomparedVersion[];
  notComparedTotal: number;
}

const MAX_NAMED = 200;

/** A page of findings, by libraries, versions and vulnerabilities. It may be short, or empty, although more follow. */
export async function listFindings(
  call: Call,
  key: Uint8Array,
  request: ListLibraryFindingsRequest,
  scope: Scope,
): Promise<LibraryFindingsPage> {
  const { tx } = call;
  const size = Math.min(request.pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const paged = pagedBy(ListLibraryFindingsRequestSchema, request, "filter");
  const begin = positionIn(openPosition(call, key, paged, request.pageToken)?.map(String) ?? []);
  const rows: LibraryFinding[] = [];
  const notCompared: UncomparedVersion[] = [];
  const page = (end?: Position): LibraryFindingsPage => ({
    rows,
    notCompared: notCompared.slice(0, MAX_NAMED),
    notComparedTotal: notCompared.length,
    nextPageToken:
      end === undefined
        ? ""
        : sealPosition(call, key, paged, [end.artifact, end.sortKey, end.version, end.vulnerability]),
  });
  const names =
    request.vulnerabilities.length === 0 ? undefined : await librariesNamedBy(tx, request.vulnerabilities, types());
  const only = [
    ...(request.artifact === "" ? [] : [sql`t.uid = ${request.artifact}`]),
    ...(request.ecosystems.length === 0 ? [] : [sql`t.ecosystem in (${sql.join(request.ecosystems)})`]),
  ];
  const turn = createTurns();
  let [libraries, versions] = [0, 0];
  for await (const { artifacts, last, looked } of artifactsFrom(tx, scope, { from: begin.artifact, names, only })) {
    for (const artifact of artifacts) {
      const isBegun = artifact.uid === begin.artifact;
      const { sortKey, version: uid, vulnerability } = isBegun ? begin : BEGINNING;
      for await (const some of versionsFrom(tx, artifact.uid, { sortKey, uid, version: request.version })) {
        for (const finding of await findingsIn(tx, artifact, some)) {
          const isBefore = isBegun && finding.version.uid === uid && finding.vulnerability.id <= vulnerability;
          if (isBefore || !matches(finding, request)) continue;
          const full = rows.length === size ? rows.at(-1) : undefined;
          if (full !== undefined) return page(behind(full));
          rows.push(finding);
        }
        const isReadable = versionReader(artifact);
        for (const { version, uid: own } of some)
          if (!isReadable(version) && !(isBegun && own === uid)) notCompared.push({ artifact, version });
        versions += some.length;
        const end = some.at(-1);
        if (versions >= MAX_VERSIONS && end !== undefined)
          return page({ artifact: artifact.uid, sortKey: end.sort_key, version: end.uid, vulnerability: BEHIND });
        await turn();
        call.requireCaller();
      }
    }
    libraries += looked;
    if (libraries >= MAX_LIBRARIES) return page({ ...BEGINNING, artifact: last, sortKey: BEHIND });
  }
  return page();
}

/** The types of the package URLs of libraries. */
function types(): string[] {
  return allEcosystems().map(({ key }) => key);
}

const BEGINNING: Position = { artifact: "", sortKey: "", version: "", vulnerability: "" };

function positionIn([artifact = "", sortKey = "", version = "", vulnerability = ""]: readonly string[]): Position {
  return { artifact, sortKey, version, vulnerability };
}

function behind({ artifact, version, vulnerability }: LibraryFinding): Position {
  return { artifact: artifact.uid, sortKey: version.sort_key, version: version.uid, vulnerability: vulnerability.id };
}
