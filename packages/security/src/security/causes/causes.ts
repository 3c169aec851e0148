import { newUid } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import type { Row } from "@moorage/kernel/store";

/**
 * Why the findings of images may have changed; `subject` is a digest (see noteImageChange), a package's id, a JSON
 * list of ids of vulnerabilities, about which an advisory says something else now, or what a feed says something else
 * of (see StatedCause).
 */
type CauseKind = "image" | "package" | "advisory" | "statement";
export type FindingCause = Row<"finding_causes"> & { kind: CauseKind };

// Rows per statement, below the parameter limit of every engine.
const ROWS = 200;

/**
 * Notes that findings of these packages were opened or closed: of the images in repos at and below the scope, of all
 * with an empty one. For commands that have locked the catalogs, since it begins again with a package that waits.
 */
export async function notePackageChanges(
  { tx, nowMs }: Pick<Call, "tx" | "nowMs">,
  packages: Iterable<string>,
  scope = "",
): Promise<void> {
  const rows = [...new Set(packages)].map((subject) => ({
    id: `package ${subject} ${scope}`,
    kind: "package",
    subject,
    scope,
    position: "",
    create_time: nowMs,
  }));
  for (let at = 0; at < rows.length; at += ROWS)
    await tx
      .insertInto("finding_causes")
      .values(rows.slice(at, at + ROWS))
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ position: "" }))
      .execute();
}

/** Notes that an advisory of the group says something else of the vulnerabilities with these ids. */
export async function noteAdvisoryChange(
  { tx, nowMs, wake }: Pick<Call, "tx" | "nowMs" | "wake">,
  group: string,
  ids: readonly string[],
): Promise<void> {
  const row = { id: newUid(""), kind: "advisory", subject: JSON.stringify(ids), scope: group, position: "" };
  await tx
    .insertInto("finding_causes")
    .values({ ...row, create_time: nowMs })
    .execute();
  wake("matching");
}
