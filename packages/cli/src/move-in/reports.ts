// What people see of a plan, and of what came of it.
import type { JsonObject } from "../api/rest.ts";
import { numberIn, textIn } from "../api/json-fields.ts";
import type { Column } from "../output/listing.ts";
import type { OutputFlags } from "../output/output.ts";
import { bytesText } from "../output/sizes.ts";
import { printReport } from "../tasks/report.ts";
import { ACTIONS, countsOf, isOfPackages, type ItemKind, type Plan } from "./plan.ts";
import type { BroughtBytes } from "./folder-adoption.ts";
import { OUTCOMES, type Results } from "./results.ts";

// What is named one by one; the plan's file has the rest.
const MAX_NAMED = 20;

const PLURALS: Readonly<Record<ItemKind, string>> = {
  group: "groups",
  repo: "repos",
  tag: "tags",
  "tag-end": "ends of tags",
  robot: "robots",
  binding: "bindings",
  invite: "invites",
  mapping: "mappings",
  public: "public groups",
  policy: "policies",
  retention: "retention",
  gate: "gates",
  quota: "quotas",
  "registry-upstream": "registry upstreams",
  replication: "replications",
  webhook: "webhooks",
  setting: "settings",
  package: "packages",
  version: "versions",
  project: "projects",
  file: "files",
  "maven-artifact": "Maven artifacts",
  "maven-file": "Maven files",
  upstream: "upstreams",
};

const countColumns = (names: readonly string[]): Column[] => [
  { header: "WHAT", value: (item) => PLURALS[textIn(item, "kind") as ItemKind] },
  ...names.map((name): Column => ({ header: name.toUpperCase(), value: (item) => String(numberIn(item, name)) })),
];

/** Prints how much a plan has, and what cannot come. */
export async function printPlan(plan: Plan, file: string, flags: OutputFlags): Promise<void> {
  const { items: all, content } = plan;
  const cannot = all.filter(({ action }) => action === "cannot");
  const counts = countsOf(all).filter((each) => ACTIONS.some((action) => numberIn(each, action) > 0));
  const item: JsonObject = {
    file,
    counts,
    content: { count: content.count, bytes: content.bytes, atLeast: content.atLeast },
    leavesBehind: plan.leavesBehind,
    cannot: cannot.slice(0, MAX_NAMED).map(({ kind, source, why }) => ({ kind, source, why })),
  };
  await printReport(
    {
      item,
      listing: { field: "counts", columns: countColumns(ACTIONS), nameOf: () => file, idOf: () => file },
      async text({ table, wrap, ink }) {
        const lines = cannot
          .slice(0, MAX_NAMED)
          .map(({ kind, source, why }) => wrap(`${kind} ${source}: ${why}`, "  "));
        const more = cannot.length - lines.length;
        return [
          counts.length === 0 ? "nothing is there\n" : await table(countColumns(ACTIONS), counts),
          contentText(plan),
          ...(lines.length === 0 ? [] : ["\n", ink("cannot come:", "yellow"), "\n", `${lines.join("\n")}\n`]),
          ...(more > 0 ? [`and ${more} more, which the plan names\n`] : []),
          `${wrap(`not read, and left behind: ${plan.leavesBehind}`, "  ")}\n`,
          `${wrap(`nothing was changed; the plan is in ${file}`)}\n`,
        ].join("");
      },
    },
    flags,
  );
}

function contentText({ items, content: { count, bytes, atLeast } }: Plan): string {
  if (items.some(isOfPackages))
    return bytes === 0
      ? `${count} files, whose sizes the source does not say\n`
      : `${bytesText(bytes)} in images, and files whose sizes the source does not say: ${count} in all\n`;
  return `${atLeast ? "at least " : ""}${bytesText(bytes)} in ${count} blobs and manifests, each counted once\n`;
}

/** Prints what came of a plan, and what failed. */
export async function printResults(
  { applied, finished, brought }: { applied: Results; finished?: Results; brought?: BroughtBytes },
  flags: OutputFlags,
): Promise<void> {
  const failed = [...applied.of("failed"), ...(finished?.of("failed") ?? [])];
  const kept = applied.of("kept");
  const retention = applied.of("done", "left").filter(({ kind }) => kind === "retention");
  const counts = applied.counts();
  const of = (found: typeof failed): JsonObject[] => found.map(({ kind, name, why }) => ({ kind, name, why }));
  const item: JsonObject = {
    counts,
    failed: of(failed),
    kept: of(kept),
    ...(retention.length > 0 && { retention: retention.map(({ name, outcome, why }) => ({ name, outcome, why })) }),
    ...(brought !== undefined && { brought: { ...brought } }),
    ...(finished !== undefined && { finished: finished.of("done").length }),
  };
  await printReport(
    {
      item,
      listing: { field: "counts", columns: countColumns(OUTCOMES), nameOf: () => "", idOf: () => "" },
      async text({ table, wrap, ink }) {
        const part = (title: string, color: "red" | "yellow", found: typeof failed): string[] => {
          if (found.length === 0) return [];
          const lines = found.slice(0, MAX_NAMED).map(({ kind, name, why }) => wrap(`${kind} ${name}: ${why}`, "  "));
          const more = found.length > lines.length ? [`and ${found.length - lines.length} more (-o json)`] : [];
          return ["", ink(`${title}:`, color), ...lines, ...more];
        };
        const ended = finished === undefined ? [] : ["", `${finished.of("done").length} repos follow no longer`];
        return [
          await table(countColumns(OUTCOMES), counts),
          ...(brought === undefined ? [] : [`${wrap(broughtText(brought))}\n`]),
          [
            ...part("failed", "red", failed),
            ...part("kept as they are here", "yellow", kept),
            ...part("tags that retention deletes", "yellow", retention),
            ...ended,
            "",
          ].join("\n"),
        ].join("");
      },
    },
    flags,
  );
}

function broughtText({ linked, copied, here, absent }: BroughtBytes): string {
  const parts = [
    `${bytesText(linked)} by links, which take no space`,
    `${bytesText(copied)} copied, which take it twice`,
    `${bytesText(here)} here before`,
    ...(absent === 0 ? [] : [`${absent} manifests and blobs that are not whole in the registry's storage`]),
  ];
  return `content: ${parts.join("; ")}`;
}
