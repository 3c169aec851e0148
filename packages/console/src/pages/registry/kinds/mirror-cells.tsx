import { useQuery } from "@tanstack/react-query";
import { getRepoSync } from "../../../api/gen/registry.ts";
import { query } from "../../../api/queries.ts";
import { count, counted } from "../../../lib/bytes.ts";
import { syncWord } from "./sync-words.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Time } from "../../../ui/time.tsx";
import styles from "./kinds.module.css";

const FRESH_MS = 10_000;

/** How the copying goes, since when it last succeeded, and what is wrong. */
export function MirrorBadge({ uid }: { uid: string }) {
  const { data, isError } = useQuery({ ...query(getRepoSync, { uid }), staleTime: FRESH_MS });
  if (isError) return <span>not readable</span>;
  if (data === undefined) return <span>…</span>;
  const [look, word] = syncWord(data.state);
  const { consecutiveFailures, message, lastSuccessTime } = data;
  return (
    <div className={styles.cell}>
      <span>
        <Badge look={look}>{word}</Badge>{" "}
        {consecutiveFailures > 0 && `${counted(consecutiveFailures, "failure")} in a row`}
      </span>
      <small title={message}>
        {message !== "" ? (
          message
        ) : (
          <>
            last success <Time value={lastSuccessTime} />
          </>
        )}
      </small>
    </div>
  );
}

/** How many tags of the source were followed at the last turn. */
export function MirrorTags({ uid }: { uid: string }) {
  const { data, isError } = useQuery({ ...query(getRepoSync, { uid }), staleTime: FRESH_MS });
  if (isError) return <span>not readable</span>;
  if (data === undefined) return <span>…</span>;
  return <span>{data.lastAttemptTime === undefined ? "not known" : count(data.tagsSeen)}</span>;
}
