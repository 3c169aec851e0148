import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { getRepo } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { repoByPathQuery } from "../../api/repo-by-path.ts";
import { BulkProgress } from "../../ui/bulk-progress.tsx";
import { Page, Row } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { MIN_LETTERS, type TagRow } from "./queries.ts";
import { TagActions } from "./tag-actions.tsx";
import { TagList } from "./tag-list.tsx";

const route = getRouteApi("/shell/repo");

/** A repo: its tags, and what can be done with them. */
export function RepoPage() {
  const { name = "", q, order } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: uid } = useSuspenseQuery(repoByPathQuery(name));
  const { data: repo } = useSuspenseQuery(query(getRepo, { uid }));
  const [selected, setSelected] = useState<readonly TagRow[]>([]);
  return (
    <Page title={name} actions={<a href={`/repo/settings?name=${encodeURIComponent(name)}`}>Settings</a>}>
      {repo.description !== "" && <p>{repo.description}</p>}
      <BulkProgress />
      <Row>
        <SearchBox
          label="Filter tags by name"
          placeholder="Find a tag"
          value={q}
          minLetters={MIN_LETTERS}
          onSearch={(text) =>
            void navigate({ search: (before) => ({ ...before, q: text || undefined }), replace: true })
          }
        />
      </Row>
      <TagActions repo={name} repoUid={uid} selected={selected} onDone={() => setSelected([])} />
      <TagList repo={name} repoUid={uid} q={q} order={order} selected={selected} onSelect={setSelected} />
    </Page>
  );
}
