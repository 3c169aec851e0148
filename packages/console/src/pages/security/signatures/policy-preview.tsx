import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { PreviewedTag, SignatureOutcomeCount, SignaturePolicyInput } from "../../../api/gen/registry.ts";
import { count, counted } from "../../../lib/bytes.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import type { Column } from "../../../ui/column.ts";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { ShortTable } from "../../../ui/short-table.tsx";
import { usePaused } from "../../../ui/use-pause.ts";
import { previewQuery } from "./queries.ts";
import { outcomeWord } from "./signature-words.ts";
import styles from "./signatures.module.css";

const COLUMNS: readonly Column<PreviewedTag>[] = [
  {
    id: "tag",
    header: "Tag",
    cell: ({ repository, tag }) => (
      <Link to="/image" search={{ name: `${repository}:${tag}`, part: "signatures" }}>
        {repository}:{tag}
      </Link>
    ),
  },
  {
    id: "outcome",
    header: "Is",
    cell: ({ outcome }) => {
      const [word, look] = outcomeWord(outcome);
      return <Badge look={look}>{word}</Badge>;
    },
  },
  { id: "reason", header: "Why", isMinor: true, cell: ({ reason }) => reason },
];

/** Which tags a policy would block now if it was enforced. It changes nothing, and counts no exemptions. */
export function PolicyPreview({ group, policy }: { group: string; policy: SignaturePolicyInput }) {
  // What is typed is asked when the typing pauses.
  const draft = usePaused(JSON.stringify(policy));
  const asked = JSON.parse(draft) as SignaturePolicyInput;
  const hasSigners = (asked.rules ?? []).every(({ signers = [] }) => signers.length > 0);
  const { data, error, isFetching, hasNextPage, fetchNextPage } = useInfiniteQuery({
    ...previewQuery(group, { ...asked, name: "preview", on: ["SIGNATURE_ACTION_PULL"] }),
    enabled: hasSigners,
    staleTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
  });
  const pages = data?.pages ?? [];
  const tags = pages.flatMap((page) => page.tags);
  const lookedAt = pages.reduce((sum, page) => sum + page.lookedAt, 0);
  const passed = sumOf(pages.flatMap((page) => page.passed));
  return (
    <section className={styles.preview} aria-label="Preview">
      <h3>Preview</h3>
      {!hasSigners && <p>Choose who signs to see which tags it would block.</p>}
      {hasSigners && <ErrorNote error={error} />}
      {hasSigners && data === undefined && error === null && <p role="status">Checking tags…</p>}
      {hasSigners && error === null && data !== undefined && (
        <>
          <p role="status">
            <strong>{counted(tags.length, "tag")}</strong> of {count(lookedAt)}
            {hasNextPage ? " that were looked at" : ""} would be blocked.
            {passed.map(([outcome, number]) => ` ${outcomeWord(outcome)[0]}: ${count(number)}.`).join("")}
            {hasNextPage && " There are more tags."}
          </p>
          {tags.length > 0 && (
            <ShortTable
              label="Tags that would be blocked"
              rows={tags}
              columns={COLUMNS}
              idOf={({ repo, tag }) => `${repo} ${tag}`}
            />
          )}
          {hasNextPage && (
            <Button isBusy={isFetching} onClick={() => void fetchNextPage()}>
              Load more tags
            </Button>
          )}
        </>
      )}
    </section>
  );
}

function sumOf(counts: readonly SignatureOutcomeCount[]): [SignatureOutcomeCount["outcome"], number][] {
  const sums = new Map<SignatureOutcomeCount["outcome"], number>();
  for (const { outcome, count: number } of counts) sums.set(outcome, (sums.get(outcome) ?? 0) + number);
  return [...sums];
}
