import { useQuery } from "@tanstack/react-query";
import { CircleGauge, Clock, KeyRound, type LucideIcon, RefreshCwOff, TriangleAlert, Webhook } from "lucide-react";
import { useState } from "react";
import type { AttentionKind } from "../../api/gen/operations.ts";
import { counted } from "../../lib/bytes.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Panel, PanelBody } from "../../ui/panel.tsx";
import { attentionGaps, type AttentionRow, attentionRows } from "./attention-words.ts";
import styles from "./needs-attention.module.css";
import { attentionQuery } from "./queries.ts";

const MAX_ROWS = 5;

const LOOKS: Readonly<Partial<Record<AttentionKind, readonly [icon: LucideIcon, tone: string]>>> = {
  ATTENTION_KIND_EXPLOITED: [TriangleAlert, "critical"],
  ATTENTION_KIND_NO_FEEDS: [Clock, "high"],
  ATTENTION_KIND_FEED: [Clock, "medium"],
  ATTENTION_KIND_DELIVERY: [Webhook, "medium"],
  ATTENTION_KIND_TOKEN: [KeyRound, "medium"],
  ATTENTION_KIND_QUOTA_EXCEEDED: [CircleGauge, "high"],
  ATTENTION_KIND_QUOTA_WARNED: [CircleGauge, "low"],
};
const FAILS = [RefreshCwOff, "high"] as const;

/** What somebody should look at first, at most five kinds, and what nobody could look at. */
export function NeedsAttention({ group }: { group: string | undefined }) {
  const [nowMs] = useState(() => Date.now());
  const { data, error } = useQuery(attentionQuery(group));
  const rows = data && attentionRows(data.attention, nowMs);
  const further = Math.max(0, (rows?.length ?? 0) - MAX_ROWS);
  return (
    <Panel
      title="Needs attention"
      actions={rows !== undefined && rows.length > 0 && <span className={styles.count}>{rows.length}</span>}
    >
      <div className={styles.body}>
        {error && (
          <PanelBody>
            <ErrorNote error={error} />
          </PanelBody>
        )}
        <ul className={styles.rows}>
          {rows?.slice(0, MAX_ROWS).map((row) => (
            <Row key={row.kind} row={row} />
          ))}
        </ul>
        {further > 0 && (
          <p className={styles.quiet}>
            Also:{" "}
            {rows
              ?.slice(MAX_ROWS)
              .map(({ title }) => title)
              .join(", ")}
          </p>
        )}
        {data && <Rest isEmpty={rows?.length === 0} {...attentionGaps(data.attention)} all={data.attention.length} />}
      </div>
    </Panel>
  );
}

function Row({ row: { kind, title, line, link } }: { row: AttentionRow }) {
  const [Icon, tone] = LOOKS[kind] ?? FAILS;
  return (
    <li>
      <span className={styles.icon} data-tone={tone}>
        <Icon size={14} aria-hidden />
      </span>
      <div className={styles.words}>
        <p className={styles.title}>{title}</p>
        <p className={styles.line}>{line}</p>
      </div>
      {link && (
        <a href={link.href} aria-label={`${link.text}: ${title}`}>
          {link.text}
        </a>
      )}
    </li>
  );
}

interface RestProps {
  isEmpty: boolean;
  kinds: number;
  all: number;
  sentences: readonly string[];
}

/** That nothing was found, and what was not looked at: the one is never said without the other. */
function Rest({ isEmpty, kinds, all, sentences }: RestProps) {
  if (kinds === 0) return isEmpty ? <p className={styles.quiet}>Nothing needs attention.</p> : null;
  return (
    <>
      {isEmpty && <p className={styles.quiet}>Nothing was found in what could be looked at.</p>}
      <details className={styles.quiet}>
        <summary>
          {counted(kinds, "check")} of {all} {kinds === 1 ? "is" : "are"} incomplete
        </summary>
        <ul>
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </details>
    </>
  );
}
