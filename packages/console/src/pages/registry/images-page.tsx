import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Folder, List, Plus } from "lucide-react";
import { useState } from "react";
import { groupPath } from "../../lib/groups.ts";
import { useRights } from "../../lib/rights.ts";
import { Button } from "../../ui/button.tsx";
import { FilterChip } from "../../ui/filter-chip.tsx";
import { Page } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Segmented } from "../../ui/segments.tsx";
import { Toolbar } from "../../ui/toolbar.tsx";
import { FoundList } from "./found-list.tsx";
import { NewImage } from "./new-image.tsx";
import { allGroupsQuery, FLAT, MIN_LETTERS } from "./queries.ts";
import { RepoList } from "./repo-list.tsx";

const route = getRouteApi("/shell/images");
const VIEWS = [
  [
    "groups",
    <>
      <Folder size={14} aria-hidden />
      Groups
    </>,
  ],
  [
    FLAT,
    <>
      <List size={14} aria-hidden />
      Flat
    </>,
  ],
] as const;

/** Images by group, in one list, or by a few letters. */
export function ImagesPage() {
  const { q, group, order, view } = route.useSearch();
  const navigate = route.useNavigate();
  const {
    data: { groups },
  } = useSuspenseQuery(allGroupsQuery);
  const [isNew, setNew] = useState(false);
  const path = group === undefined ? undefined : groupPath(group, groups);
  const target = group ?? (groups.length === 1 ? groups[0]?.uid : undefined) ?? "";
  const rights = useRights(target);
  const set = (change: Record<string, string | undefined>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const choices = groups
    .map(({ uid }) => [uid, groupPath(uid, groups)] as const)
    .toSorted(([, one], [, other]) => one.localeCompare(other));
  return (
    <Page
      title={path || "Images"}
      actions={
        <Button
          look="primary"
          icon={<Plus size={16} aria-hidden />}
          disabledReason={target === "" ? undefined : rights("CAP_REPO_CREATE")}
          onClick={() => setNew(true)}
        >
          New image
        </Button>
      }
    >
      <Toolbar
        end={
          q === undefined && (
            <Segmented
              label="View"
              value={view === FLAT ? FLAT : "groups"}
              options={VIEWS}
              onValue={(value) => set({ view: value === FLAT ? FLAT : undefined })}
            />
          )
        }
      >
        <SearchBox
          label="Find images"
          placeholder="Name, tag, digest or label"
          value={q}
          minLetters={MIN_LETTERS}
          onSearch={(text) => set({ q: text || undefined })}
        />
        <FilterChip label="Group" value={group} options={choices} onValue={(uid) => set({ group: uid })} />
      </Toolbar>
      {q === undefined ? (
        <RepoList group={group} order={order} view={view} groupPath={path || undefined} groups={groups} />
      ) : (
        <FoundList text={q} group={group} />
      )}
      {isNew && <NewImage group={target} groups={groups} onClose={() => setNew(false)} />}
    </Page>
  );
}
