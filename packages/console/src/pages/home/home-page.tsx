import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { listStorage, listTags, type Tag } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { counted } from "../../lib/bytes.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Card, Page, Section } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Time } from "../../ui/time.tsx";
import { TagLink } from "../registry/image-path.tsx";
import styles from "./home-page.module.css";
import { organizationsQuery } from "./queries.ts";

const MAX_RECENT = 10;
const MAX_COUNTED = 50;

/** The start page: a search, the organizations, and what moved last. */
export function HomePage() {
  const navigate = useNavigate();
  const {
    data: { groups },
  } = useSuspenseQuery(organizationsQuery);
  return (
    <Page title="Home">
      <SearchBox
        label="Find images"
        placeholder="Name, tag, digest or label"
        onSearch={(q) => void navigate({ to: "/images", search: q === "" ? {} : { q } })}
      />
      <Section title="Organizations">
        {groups.length === 0 ? (
          <Empty title="You are in no organization yet">
            Ask somebody who owns one to invite you, or to bind a role to you.
          </Empty>
        ) : (
          <ul className={styles.organizations}>
            {groups.map(({ uid, name }) => (
              <li key={uid}>
                <Card>
                  <Link to="/images" search={{ group: uid }}>
                    {name}
                  </Link>
                  <Counts uid={uid} />
                </Card>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Recent />
    </Page>
  );
}

function Counts({ uid }: { uid: string }) {
  const { data, isError } = useQuery(query(listStorage, { pageSize: MAX_COUNTED }));
  const found = data?.storage.find(({ groupUid }) => groupUid === uid);
  if (found === undefined) return <span>{data === undefined && !isError ? "…" : ""}</span>;
  return (
    <span>
      {counted(found.repos, "image")}, {counted(found.tags, "tag")}
    </span>
  );
}

function Recent() {
  const { data } = useQuery(query(listTags, { orderBy: "update_time desc", pageSize: MAX_RECENT }));
  return (
    <Section title="Recent pushes">
      {data === undefined ? (
        <p>…</p>
      ) : data.tags.length === 0 ? (
        <Empty title="No images yet" command={`docker push ${window.location.host}/<organization>/<image>:<tag>`}>
          The first push makes the repo.
        </Empty>
      ) : (
        <DataTable
          label="Recent pushes"
          rows={data.tags}
          idOf={({ uid }: Tag) => uid}
          columns={[
            { id: "tag", header: "Tag", cell: ({ uid, name }: Tag) => <TagLink uid={uid} name={name} /> },
            { id: "time", header: "Updated", cell: ({ updateTime }: Tag) => <Time value={updateTime} /> },
          ]}
        />
      )}
    </Section>
  );
}
