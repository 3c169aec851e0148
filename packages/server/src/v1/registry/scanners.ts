import { create, type MessageShape } from "@bufbuild/protobuf";
import { type Scanner, Scanner_Name as Name, ScannerSchema } from "@moorage/api/v1/registry";
import { milliseconds, timestamp } from "@moorage/kernel/lib/timestamps";

/** What made a report, as it names itself. */
export interface ReportMaker {
  name: string;
  /** Empty when it is not known. */
  version: string;
  /** When its data about vulnerabilities were made, in milliseconds since 1970. */
  builtMs?: number | undefined;
}

/** The name of the scanner that the server is itself. */
export const OWN_NAME = "moorage";

/** The name that v1 has for a scanner: that of a product which is part of the scanner's own. */
function nameOf(name: string): Name {
  if (/grype/i.test(name)) return Name.GRYPE;
  return /trivy/i.test(name) ? Name.TRIVY : Name.UNKNOWN;
}

/** A scanner that v1 has no name for has its own name before its version. */
export function scannerOf({ name, version, builtMs }: ReportMaker): MessageShape<typeof ScannerSchema> {
  const known = nameOf(name);
  return create(ScannerSchema, {
    name: known,
    version: known === Name.UNKNOWN ? `${name} ${version}`.trim() : version,
    ...(builtMs !== undefined && { dbBuildTime: timestamp(builtMs) }),
  });
}

/** Whether the scanner is of that name; UNKNOWN asks for any. */
export const isNamed = (asked: Name, { name }: Pick<ReportMaker, "name">): boolean =>
  asked === Name.UNKNOWN || asked === nameOf(name);

/** Whether the scanner is the one that is asked for, by all that is said of it. */
export function isAsked(asked: Scanner | undefined, maker: ReportMaker): boolean {
  if (asked === undefined) return true;
  const { version } = scannerOf(maker);
  return (
    isNamed(asked.name, maker) &&
    (asked.version === "" || asked.version === version) &&
    (asked.dbBuildTime === undefined || milliseconds(asked.dbBuildTime) === maker.builtMs)
  );
}
