import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listTags, search } from "../../../api/gen/registry.ts";
import { query } from "../../../api/queries.ts";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import type { Place } from "./data.ts";
import styles from "./image.module.css";

const MAX = 200;

/** Where else the digest is: the tags that point to it, and repos that have it without one. */
export function TaggedElsewhere({ place: { digest } }: { place: Place }) {
  const tags = useQuery(query(listTags, { digest, pageSize: MAX }));
  const repos = useQuery(query(search, { query: digest, kinds: ["SEARCH_KIND_DIGEST"], pageSize: MAX }));
  const rows = (repos.data?.results ?? []).map(({ repoUid, name }) => ({
    name,
    repoUid,
    tags: (tags.data?.tags ?? []).filter(({ uid }) => uid.startsWith(`${repoUid}/`)),
  }));
  return (
    <Section title="Where this digest is">
      <ErrorNote error={tags.error ?? repos.error} />
      {repos.isPending || tags.isPending ? (
        <p role="status">Looking for it…</p>
      ) : (
        <ul className={styles.prose}>
          {rows.map(({ name, repoUid, tags: found }) => (
            <li key={repoUid}>
              {found.length === 0 && (
                <>
                  <Link to="/image" search={{ name: `${name}@${digest}` }}>
                    {name}
                  </Link>
                  , without a tag
                </>
              )}
              {found.map((tag, at) => (
                <span key={tag.uid}>
                  {at > 0 && ", "}
                  <Link to="/image" search={{ name: `${name}:${tag.name}` }}>
                    {name}:{tag.name}
                  </Link>{" "}
                  (since <Time value={tag.updateTime} />)
                </span>
              ))}
            </li>
          ))}
        </ul>
      )}
      {Number(tags.data?.totalCount ?? 0) > MAX && <p>The first {MAX} tags are shown.</p>}
    </Section>
  );
}
