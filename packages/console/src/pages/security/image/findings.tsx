import { getRouteApi } from "@tanstack/react-router";
import { useInfiniteQuery } from "@tanstack/react-query";
import { listFindings, type ListFindingsRequest } from "../../../api/gen/vulnerabilities.ts";
import { listQuery } from "../../../api/queries.ts";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { Section } from "../../../ui/page.tsx";
import { FindingTable } from "../finding-table.tsx";
import { NotKnown, StaleFeeds } from "../knowledge.tsx";
import { SEVERITIES, severityOf } from "../severity.tsx";
import styles from "./image.module.css";
import { NotCompared } from "./incomparable.tsx";
import type { Chosen } from "./platforms.ts";

const route = getRouteApi("/shell/image");

const PAGE_SIZE = 200;

/** The vulnerabilities of an image. */
export function Findings({ chosen: { place, digest } }: { chosen: Chosen }) {
  const { severity, state, only } = route.useSearch();
  const minSeverity = severityOf(severity);
  const input: ListFindingsRequest = {
    repo: place.repoUid,
    digest,
    pageSize: PAGE_SIZE,
    state: state === "closed" ? "FINDING_STATE_CLOSED" : "FINDING_STATE_OPEN",
    ...(minSeverity && { minSeverity }),
    ...(only === "kev" && { kev: true }),
    ...(only === "fixable" && { fixable: true }),
  };
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    listQuery(listFindings, input),
  );
  const rows = data?.pages.flatMap(({ findings }) => findings) ?? [];
  const notCompared = data?.pages[0]?.notCompared ?? 0;
  const unknown = data?.pages.flatMap(({ unknownImages }) => unknownImages) ?? [];
  return (
    <Section title="Findings">
      <Filters />
      <ErrorNote error={error} />
      {isPending && <p role="status">Reading the findings…</p>}
      <NotKnown images={unknown} />
      <NotCompared repo={place.repoUid} digest={digest} count={notCompared} />
      <StaleFeeds feeds={data?.pages.flatMap(({ staleFeeds }) => staleFeeds) ?? []} />
      {data !== undefined && unknown.length === 0 && rows.length === 0 && !hasNextPage ? (
        <Empty
          title={notCompared > 0 ? "No findings in the packages that can be compared" : "No findings"}
          command="moorage feeds list"
        >
          {notCompared > 0 ? "None of these packages has" : "No package of this image has"} a vulnerability that the
          feeds of this server know and these filters let through. Whoever runs the server sees how old the feeds are:
        </Empty>
      ) : (
        data !== undefined && (
          <FindingTable
            rows={rows}
            onMore={hasNextPage ? () => void fetchNextPage() : undefined}
            isLoadingMore={isFetchingNextPage}
          />
        )
      )}
    </Section>
  );
}

function Filters() {
  const { severity = "", state = "", only = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: "severity" | "state" | "only") => (event: { target: { value: string } }) =>
    void navigate({ search: (before) => ({ ...before, [name]: event.target.value }), replace: true });
  return (
    <div className={styles.filters}>
      <SelectField label="Severity" value={severity} onChange={set("severity")}>
        <option value="">Any</option>
        {SEVERITIES.map((each) => (
          <option key={each} value={each}>
            {each.charAt(0) + each.slice(1).toLowerCase()}
            {each === "CRITICAL" ? "" : " or worse"}
          </option>
        ))}
      </SelectField>
      <SelectField label="State" value={state} onChange={set("state")}>
        <option value="">Open</option>
        <option value="closed">Closed</option>
      </SelectField>
      <SelectField label="Only" value={only} onChange={set("only")}>
        <option value="">All</option>
        <option value="kev">Known to be exploited</option>
        <option value="fixable">With a version that fixes it</option>
      </SelectField>
    </div>
  );
}
