import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { getRepo } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { repoByPathQuery } from "../../api/repo-by-path.ts";
import { BulkProgress } from "../../ui/bulk-progress.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Page } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Segmented } from "../../ui/segments.tsx";
import { Toolbar } from "../../ui/toolbar.tsx";
import { Pulls } from "./pulls/pulls.tsx";
import { MIN_LETTERS, type TagRow } from "./queries.ts";
import { imageTagOf } from "../../lib/attached-tag.ts";
import { RepoHead } from "./repo-head.tsx";
import { TagActions } from "./tag-actions.tsx";
import { TagFilterChips } from "./tag-filter-chips.tsx";
import { filtersOf } from "./tag-filters.ts";
import { TagList } from "./tag-list.tsx";
import { EACH_TAG } from "./tag-rows.ts";
import { tagsQuery } from "./tags-query.ts";

const route = getRouteApi("/shell/repo");

const ROWS = [
  ["digests", "By digest"],
  [EACH_TAG, "Each tag"],
] as const;

/** An image: its tags and what can be done with them, and its readme. */
export function RepoPage() {
  const { name = "", q, order, part, rows, ...search } = route.useSearch();
  const filters = filtersOf(search);
  const navigate = route.useNavigate();
  const { data: uid } = useSuspenseQuery(repoByPathQuery(name));
  const { data: repo } = useSuspenseQuery(query(getRepo, { uid }));
  const tags = useSuspenseInfiniteQuery(tagsQuery(uid, {})).data.pages[0];
  const [selected, setSelected] = useState<readonly TagRow[]>([]);
  // What is selected and not shown any longer would be changed unseen.
  const set = (change: Record<string, string | undefined>): void => {
    setSelected([]);
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  };
  const shown = part === "readme" || part === "pulls" ? part : "tags";
  const total = tags?.totalCount === undefined ? undefined : Number(tags.totalCount);
  const newest = imageTagOf(tags?.tags ?? []);
  return (
    <Page
      title={name}
      head={<RepoHead name={name} uid={uid} part={shown} tags={total} newest={newest?.name} digest={newest?.digest} />}
    >
      {shown === "readme" && <Readme text={repo.readme} />}
      {shown === "pulls" && <Pulls repoUid={uid} />}
      {shown === "tags" && (
        <>
          <BulkProgress />
          <Toolbar
            end={
              <Segmented
                label="Rows"
                value={rows === EACH_TAG ? EACH_TAG : "digests"}
                options={ROWS}
                onValue={(value) => set({ rows: value === EACH_TAG ? value : undefined })}
              />
            }
          >
            <SearchBox
              label="Find a tag"
              value={q}
              minLetters={MIN_LETTERS}
              onSearch={(text) => set({ q: text || undefined })}
            />
            <TagFilterChips filters={filters} onFilter={(change) => set({ ...change })} />
          </Toolbar>
          <TagList
            repo={name}
            repoUid={uid}
            q={q}
            order={order}
            filters={filters}
            all={total}
            isEach={rows === EACH_TAG}
            selected={selected}
            onSelect={setSelected}
          />
          <TagActions repo={name} repoUid={uid} selected={selected} onDone={() => setSelected([])} />
        </>
      )}
    </Page>
  );
}

function Readme({ text }: { text: string }) {
  if (text === "") return <Empty title="No readme yet">Write one in Settings.</Empty>;
  return <Markdown text={text} />;
}
