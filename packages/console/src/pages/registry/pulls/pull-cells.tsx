import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { isCode } from "../../../api/call.ts";
import { Time } from "../../../ui/time.tsx";
import { DAYS, pullsOfReposQuery, pullsOfTagsQuery, shownDays } from "./queries.ts";
import { isDaysWhole, type PullsSeen, pullWords, seenPulls } from "./pull-words.ts";

/** What is known of the pulls of each row of a list, by its uid or name; undefined while it is read. */
export type PullsOf = (key: string) => PullsSeen | undefined;

/** So many repos are asked for in one call: their uids stand in an address of a limited length. */
const REPOS_A_CALL = 50;

/**
 * The pulls of images of the last days, some in one call; undefined where the person may list those of none of them: a
 * list has no such column then.
 */
export function usePullsOfRepos(repos: readonly string[]): PullsOf | undefined {
  const [nowMs] = useState(() => Date.now());
  const calls = Array.from({ length: Math.ceil(repos.length / REPOS_A_CALL) }, (_, at) =>
    repos.slice(at * REPOS_A_CALL, (at + 1) * REPOS_A_CALL),
  );
  const answers = useQueries({ queries: calls.map((some) => ({ ...pullsOfReposQuery(some, nowMs), retry: false })) });
  const hidden = answers.flatMap(({ data }) => data?.leftOutRepoUids ?? []);
  if (
    repos.length === 0 ||
    answers.some(({ error }) => isDenied(error)) ||
    (hidden.length > 0 && hidden.length === repos.length)
  )
    return undefined;
  return (repo) => {
    const at = Math.floor(repos.indexOf(repo) / REPOS_A_CALL);
    const { data, isError } = answers[at] ?? {};
    if (data !== undefined) return seenPulls(data, "repoUid", repo, isDaysWhole(data, shownDays(nowMs)));
    return isError ? { why: "Not readable" } : undefined;
  };
}

/** The pulls of a repo's tags of the last days, in one call; undefined where the person may not list them. */
export function usePullsOfTags(repoUid: string): PullsOf | undefined {
  const [nowMs] = useState(() => Date.now());
  const { data, error } = useQuery({ ...pullsOfTagsQuery(repoUid, nowMs), retry: false });
  const isHidden = isDenied(error);
  const hasFailed = error !== null;
  return useMemo(() => {
    if (isHidden) return undefined;
    const isWhole = data !== undefined && isDaysWhole(data, shownDays(nowMs));
    return (tag) => {
      if (data !== undefined) return seenPulls(data, "tag", tag, isWhole);
      return hasFailed ? { why: "Not readable" } : undefined;
    };
  }, [data, isHidden, hasFailed, nowMs]);
}

const isDenied = (error: unknown): boolean => isCode(error, "PERMISSION_DENIED") || isCode(error, "NOT_FOUND");

/** How often, as far as it is known. */
export function PullCount({ seen }: { seen: PullsSeen | undefined }) {
  const { text, title } = pullWords(seen);
  return <span title={title}>{text}</span>;
}

/** When last, within those days. */
export function LastPull({ seen }: { seen: PullsSeen | undefined }) {
  if (seen === undefined) return <span>…</span>;
  if (seen.lastTime !== undefined) return <Time value={seen.lastTime} />;
  const title = seen.why ?? `None in ${DAYS} days`;
  return <span title={title}>–</span>;
}
