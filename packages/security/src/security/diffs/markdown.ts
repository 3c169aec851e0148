import { ChangeKind, FindingSeverity, FindingState, PackagesState } from "@moorage/api/messages";
import { isoTime, milliseconds } from "@moorage/kernel/lib/timestamps";
import { SEVERITIES } from "../records/severities.ts";
import { type StaleFeed, staleText } from "../coverage/stale-feeds.ts";
import type { PackageChanged } from "./packages.ts";
import type { PlatformDiffers } from "./platforms.ts";
import type { ShownSide } from "./sides.ts";
import type { LayerChanged, ValueChanged } from "./values.ts";
import type { VulnerabilityChanged, VulnerabilityKnown } from "./vulnerabilities.ts";

/** What the text is made of. */
export interface ShownDiff {
  from: ShownSide;
  to: ShownSide;
  platforms: readonly PlatformDiffers[];
  annotations: readonly ValueChanged[];
  /** The first of them. */
  packages: readonly PackageChanged[];
  packagesComplete: boolean;
  addedPackages: number;
  removedPackages: number;
  changedPackages: number;
  /** The first of them. */
  vulnerabilities: readonly VulnerabilityChanged[];
  vulnerabilitiesComplete: boolean;
  /** The feeds that they rest on and that are older than their own interval. */
  stale: readonly StaleFeed[];
  addedVulnerabilities: number;
  removedVulnerabilities: number;
  changedVulnerabilities: number;
  truncated: boolean;
}

const WORDS: ReadonlyMap<ChangeKind, string> = new Map([
  [ChangeKind.ADDED, "added"],
  [ChangeKind.REMOVED, "removed"],
  [ChangeKind.CHANGED, "changed"],
]);
const wordOf = (kind: ChangeKind): string => WORDS.get(kind) ?? "same";
const SEVERITY_WORDS: ReadonlyMap<FindingSeverity, string> = new Map(
  SEVERITIES.map((word) => [FindingSeverity[word], word]),
);
/** The longest text in a cell, in characters. */
const MAX_CELL = 200;

/** The diff as GitHub Flavored Markdown. What images say is escaped and cut to 200 characters. */
export function markdownOf(image: string, diff: ShownDiff): string {
  const { from, to, platforms, annotations } = diff;
  const parts = [
    `# ${cell(image)}: ${cell(from.reference)} → ${cell(to.reference)}`,
    table(
      ["", "from", "to"],
      [
        ["digest", code(from.digest), code(to.digest)],
        [
          "size",
          bytes(from.size),
          from.stored && to.stored ? `${bytes(to.size)} (${change(from, to)})` : bytes(to.size),
        ],
      ],
    ),
    ...[from, to]
      .filter(({ stored }) => !stored)
      .map(({ digest }) => `${code(digest)} is not stored any longer: nothing is known about what differs.`),
    ...(from.stored && to.stored
      ? ["## Packages", ...packagesPart(diff), "## Vulnerabilities", ...vulnerabilitiesPart(diff)]
      : []),
    ...(annotations.length > 0 ? ["## Annotations", valuesTable(annotations)] : []),
    ...platforms.flatMap(platformPart),
    ...(diff.truncated ? ["There are more differences of configuration, labels and layers than are shown."] : []),
  ];
  return `${parts.join("\n\n")}\n`;
}

function packagesPart(diff: ShownDiff): string[] {
  const { packages, platforms, addedPackages: added, removedPackages: removed, changedPackages: changed } = diff;
  const all = added + removed + changed;
  const unknown = platforms.flatMap(({ platform, kind, from, to }) =>
    [from, to].flatMap((each) =>
      kind === ChangeKind.UNSPECIFIED || each === undefined || each.packagesState === PackagesState.KNOWN
        ? []
        : [
            `- ${cell(platform || "image")}: the packages of ${code(each.digest)} are not known: ${cell(each.packagesReason)}`,
          ],
    ),
  );
  const summary = `${added} added, ${removed} removed, ${changed} changed${diff.packagesComplete ? "" : ", of those that are known"}.`;
  return [
    summary,
    ...(unknown.length > 0 ? [unknown.join("\n")] : []),
    ...(packages.length > 0
      ? [
          table(
            ["", "package", "from", "to", "platforms"],
            packages.map(({ kind, purl, fromVersions, toVersions, platforms: where }) => [
              wordOf(kind),
              cell(purl.replace(/^pkg:/, "")),
              cell(fromVersions.join(", ")),
              cell(toVersions.join(", ")),
              cell(where.join(", ")),
            ]),
          ),
        ]
      : []),
    ...(all > packages.length ? [`${all - packages.length} more are not shown.`] : []),
  ];
}

function vulnerabilitiesPart(diff: ShownDiff): string[] {
  const { vulnerabilities, platforms } = diff;
  const { addedVulnerabilities: added, removedVulnerabilities: removed, changedVulnerabilities: changed } = diff;
  const all = added + removed + changed;
  const unknown = platforms.flatMap(({ platform, from, to }) =>
    [from, to].flatMap((each) =>
      each === undefined || each.vulnerabilitiesReason === ""
        ? []
        : [
            `- ${cell(platform || "image")}: the vulnerabilities of ${code(each.digest)} are not known: ${cell(each.vulnerabilitiesReason)}`,
          ],
    ),
  );
  const times = [diff.from, diff.to].flatMap(({ reference, asOf }) =>
    asOf === undefined ? [] : [`- ${cell(reference)}: as they were known at ${isoTime(milliseconds(asOf))}`],
  );
  return [
    `${added} added, ${removed} removed, ${changed} changed${diff.vulnerabilitiesComplete ? "" : ", of those that are known"}.`,
    ...(times.length > 0 ? [times.join("\n")] : []),
    ...(diff.stale.length > 0
      ? [`- feeds older than their own interval: ${cell(diff.stale.map(staleText).join(", "))}`]
      : []),
    ...(unknown.length > 0 ? [unknown.join("\n")] : []),
    ...(vulnerabilities.length > 0
      ? [
          table(
            ["", "vulnerability", "severity", "package", "from", "to", "platforms"],
            vulnerabilities.map(({ kind, vulnerability, severity, kev, purl, from, to, platforms: where }) => [
              wordOf(kind),
              cell(vulnerability),
              `${SEVERITY_WORDS.get(severity) ?? "UNKNOWN"}${kev ? ", known to be exploited" : ""}`,
              cell(purl.replace(/^pkg:/, "")),
              cell(knownPart(from)),
              cell(knownPart(to)),
              cell(where.join(", ")),
            ]),
          ),
        ]
      : []),
    ...(all > vulnerabilities.length ? [`${all - vulnerabilities.length} more are not shown.`] : []),
  ];
}

/** `1.0.0, fixed in 1.0.1` or `1.0.0, closed: WITHDRAWN` */
function knownPart(known: VulnerabilityKnown | undefined): string {
  if (known === undefined) return "";
  const { state, versions, fixVersions, closeReason, claims } = known;
  const claimed = claims.length > 0 ? [`claimed: ${claims.join(", ")}`] : [];
  if (state === FindingState.CLOSED) return [versions.join(", "), `closed: ${closeReason}`, ...claimed].join(", ");
  const fixed = fixVersions.length > 0 ? [`fixed in ${fixVersions.join(", ")}`] : [];
  return [...versions, ...fixed, ...claimed].join(", ");
}

function platformPart({ platform, kind, from, to, config, labels, annotations, layers }: PlatformDiffers): string[] {
  const title = `## ${cell(platform || "image")}: ${wordOf(kind)}`;
  if (kind !== ChangeKind.CHANGED || from === undefined || to === undefined) return [title];
  return [
    title,
    `${code(from.digest)} → ${code(to.digest)}, ${bytes(from.size)} → ${bytes(to.size)} (${change(from, to)})`,
    ...(config.length > 0 ? ["### Configuration", valuesTable(config)] : []),
    ...(labels.length > 0 ? ["### Labels", valuesTable(labels)] : []),
    ...(annotations.length > 0 ? ["### Annotations", valuesTable(annotations)] : []),
    ...(layers.length > 0 ? ["### Layers", layersTable(layers)] : []),
  ];
}

function valuesTable(values: readonly ValueChanged[]): string {
  return table(
    ["name", "from", "to"],
    values.map(({ name, from, to }) => [cell(name), cell(from ?? "—"), cell(to ?? "—")]),
  );
}

function layersTable(layers: readonly LayerChanged[]): string {
  return table(
    ["", "layer", "size"],
    layers.map(({ kind, digest, size }) => [wordOf(kind), code(digest), bytes(size)]),
  );
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(titles), line(titles.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A digest, which has nothing to escape. */
const code = (digest: string): string => `\`${digest}\``;

/** A text of somebody else on one line, with nothing in it that Markdown or HTML would act on. */
function cell(text: string): string {
  const line = text.replaceAll(/\p{C}+/gu, " ");
  const shown = line.length <= MAX_CELL ? line : `${line.slice(0, MAX_CELL - 1).toWellFormed()}…`;
  return shown.replaceAll(/[\\`*_{}[\]<>|#&~!]/g, "\\$&");
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** `1.5 MiB` */
function bytes(count: bigint): string {
  let [value, unit] = [Number(count), 0];
  while (Math.abs(value) >= 1024 && unit < UNITS.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** `+1.5 MiB` */
function change(from: { size: bigint }, to: { size: bigint }): string {
  const difference = to.size - from.size;
  return `${difference < 0n ? "" : "+"}${bytes(difference)}`;
}
