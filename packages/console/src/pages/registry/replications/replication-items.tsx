import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Replication, ReplicationItem } from "../../../api/gen/registry.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Badge } from "../../../ui/badge.tsx";
import type { Column } from "../../../ui/column.ts";
import { DataTable } from "../../../ui/data-table.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { FilterChip } from "../../../ui/filter-chip.tsx";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { Toolbar } from "../../../ui/toolbar.tsx";
import { usePaths } from "../../access/parts/data.ts";
import styles from "../kinds/kinds.module.css";
import { itemsQuery, POLL_MS } from "./queries.ts";
import { ITEM_STATES, itemWord } from "./replication-words.ts";

export interface ReplicationItemsProps {
  replication: Replication;
  /** The word of the state that the items are narrowed to; undefined for all. */
  state: string | undefined;
  onState: (word: string | undefined) => void;
}

/** The tags of a replication, each with how far it is and why. */
export function ReplicationItems({ replication, state: word, onState }: ReplicationItemsProps) {
  const { uid } = replication;
  const group = usePaths().get(parentUid(uid));
  const state = ITEM_STATES.find(([each]) => each === word)?.[1];
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    ...itemsQuery(uid, state),
    refetchInterval: ({ state: { data: read } }) => (read?.pages.length === 1 ? POLL_MS : false),
  });
  const rows = data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Section title="Tags">
      <Toolbar>
        <FilterChip label="State" value={word} options={ITEM_STATES.map(([each]) => [each, each])} onValue={onState} />
      </Toolbar>
      <ErrorNote error={error} />
      {data !== undefined && rows.length === 0 && (
        <Empty title={word === undefined ? "No tag has matched so far" : `No tag is ${word}`}>
          {word === undefined ? "Matching tags appear here with their progress." : "Tags in other states are hidden."}
        </Empty>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Tags"
          rowWord="tag"
          rows={rows}
          columns={columnsOf(group)}
          idOf={({ repository, tag }) => `${repository}:${tag}`}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
          isTall
        />
      )}
    </Section>
  );
}

/** `group`: the path of the replication's group; undefined where the person does not see it. */
function columnsOf(group: string | undefined): Column<ReplicationItem>[] {
  return [
    {
      id: "tag",
      header: "Tag",
      cell: ({ repository, tag, digest }) =>
        // What is deleted here has no page.
        group === undefined || digest === "" ? (
          `${repository}:${tag}`
        ) : (
          <Link to="/tag" search={{ name: `${group}/${repository}:${tag}` }}>
            {repository}:{tag}
          </Link>
        ),
    },
    { id: "state", header: "State", cell: (item) => <ItemState item={item} /> },
    { id: "attempts", header: "Attempts", isMinor: true, align: "end", cell: ({ attempts }) => attempts },
    {
      id: "next",
      header: "Next attempt",
      isWide: true,
      align: "end",
      cell: ({ nextTime }) => <Time value={nextTime} none="none planned" />,
    },
  ];
}

function ItemState({ item: { state, message } }: { item: ReplicationItem }) {
  const [word, look] = itemWord(state);
  return (
    <div className={styles.cell}>
      <span>
        <Badge look={look}>{word}</Badge>
      </span>
      <small title={message}>{message}</small>
    </div>
  );
}
