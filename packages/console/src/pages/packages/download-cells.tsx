import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { isCode } from "../../api/call.ts";
import type { Column } from "../../ui/column.ts";
import { Time } from "../../ui/time.tsx";
import { PullCount, type PullsOf } from "../registry/pulls/pull-cells.tsx";
import { isDaysWhole, type PullsSeen } from "../registry/pulls/pull-words.ts";
import { shownDays } from "../registry/pulls/queries.ts";
import { seenDownloads } from "./download-words.ts";
import { downloadsQuery } from "./queries.ts";

/** So many are asked for in one call: their uids stand in an address of a limited length. */
const UIDS_A_CALL = 50;

/**
 * The downloads of packages in the last 30 days or, with `artifactId`, of its versions; undefined where the person may
 * not list them: a list has no such column then.
 */
export function useDownloads(uids: readonly string[], artifactId = ""): PullsOf | undefined {
  const [nowMs] = useState(() => Date.now());
  const calls = Array.from({ length: Math.ceil(uids.length / UIDS_A_CALL) }, (_, at) =>
    uids.slice(at * UIDS_A_CALL, (at + 1) * UIDS_A_CALL),
  );
  const answers = useQueries({ queries: calls.map((some) => ({ ...downloadsQuery(some, artifactId), retry: false })) });
  const hidden = answers.flatMap(({ data }) => data?.leftOutUids ?? []);
  if (answers.some(({ error }) => isCode(error, "PERMISSION_DENIED"))) return undefined;
  if (uids.length === 0 || hidden.length === uids.length) return undefined;
  return (uid) => {
    const { data, isError } = answers[Math.floor(uids.indexOf(uid) / UIDS_A_CALL)] ?? {};
    if (data !== undefined) return seenDownloads(data, uid, isDaysWhole(data, shownDays(nowMs)));
    return isError ? { why: "Not readable" } : undefined;
  };
}

/** How often something was downloaded in the last 30 days, as far as that is known. */
export function downloadsColumn<Row extends { uid: string }>(downloads: PullsOf): Column<Row> {
  return {
    id: "downloads",
    header: "Downloads, 30 d",
    align: "end",
    isWide: true,
    cell: ({ uid }) => <PullCount seen={downloads(uid)} />,
  };
}

/** The same, and when it was last. */
export function downloadColumns<Row extends { uid: string }>(downloads: PullsOf): readonly Column<Row>[] {
  return [
    downloadsColumn(downloads),
    {
      id: "downloaded",
      header: "Last download",
      align: "end",
      isWide: true,
      cell: ({ uid }) => <LastDownload seen={downloads(uid)} />,
    },
  ];
}

/** When something was last downloaded, in all time that is known. */
export function LastDownload({ seen }: { seen: PullsSeen | undefined }) {
  if (seen === undefined) return <span>…</span>;
  if (seen.lastTime !== undefined) return <Time value={seen.lastTime} />;
  return <span title={seen.why ?? "None since downloads are counted"}>–</span>;
}
