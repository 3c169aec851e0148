import type { GroupUsage } from "../../../api/gen/registry.ts";

const HEAD = [
  "group_uid",
  "group",
  "period",
  "bytes",
  "bytes_at_least",
  "growth",
  "pulls",
  "traffic_bytes",
  "incomplete",
];

/**
 * The cells of the rows, with the columns of the API's own CSV. Labels are columns, those of all groups; the API has
 * those of a page. What is not known is an empty cell.
 */
export function usageCsv(rows: readonly GroupUsage[]): string[][] {
  const labels = [...new Set(rows.flatMap(({ costLabels }) => Object.keys(costLabels)))].toSorted();
  return [
    [...HEAD, ...labels.map((label) => `label:${label}`)],
    ...rows.map((row) => [
      row.groupUid,
      row.name,
      row.period,
      row.bytes ?? "",
      String(row.bytesAtLeast),
      row.growth ?? "",
      row.pulls ?? "",
      row.trafficBytes ?? "",
      String(row.incomplete),
      ...labels.map((label) => row.costLabels[label] ?? ""),
    ]),
  ];
}
