import { SourceType } from "@moorage/api/messages";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { hasMalwareRecords, isMalware, libraryVulnerabilities } from "@moorage/security/security";
import type { Database, Row } from "@moorage/kernel/store";
import { ORIGIN } from "./names.ts";
import { libraryOf } from "./purls.ts";
import { remediatedVersions } from "./remediation.ts";

type Versioned = Pick<Row<"artifact_versions">, "version" | "origin" | "publish_time">;

/** Where versions of an artifact come from, and whether they are malware: in their order, fields of ArtifactVersion. */
export async function originsOf(
  db: Database,
  artifact: Pick<Row<"artifacts">, "uid" | "parent" | "ecosystem" | "name" | "normalized">,
  rows: readonly Versioned[],
) {
  if (rows.length === 0) return [];
  const versions = rows.map(({ version }) => version);
  const own = rows.filter(({ origin }) => origin === ORIGIN.published).map(({ version }) => version);
  const remediated = own.length === 0 ? new Set() : await remediatedVersions(db, artifact, own);
  const malwareScanned = await hasMalwareRecords(db);
  const asked = [{ ...libraryOf(artifact), versions }];
  const [known = []] = malwareScanned ? await libraryVulnerabilities(db, artifact.parent, asked, "malware") : [];
  const malicious = new Set(known.filter(isMalware).flatMap((each) => each.versions));
  return rows.map(({ version, origin, publish_time: publishMs }) => ({
    sourceType:
      origin === ORIGIN.upstream
        ? SourceType.UPSTREAM_REGISTRY
        : remediated.has(version)
          ? SourceType.INTERNAL_REMEDIATED
          : SourceType.INTERNAL,
    malwareScanned,
    malwareMalicious: malicious.has(version),
    ...(origin === ORIGIN.upstream && { upstreamPublishTime: timestamp(publishMs) }),
  }));
}
