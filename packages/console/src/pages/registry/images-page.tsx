import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { SelectField } from "../../ui/field.tsx";
import { Page, Row } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { FoundList } from "./found-list.tsx";
import { allGroupsQuery, MIN_LETTERS } from "./queries.ts";
import { RepoList } from "./repo-list.tsx";

const route = getRouteApi("/shell/images");

/** Images by a few letters, or by group. */
export function ImagesPage() {
  const { q, group, order } = route.useSearch();
  const navigate = route.useNavigate();
  const { data } = useSuspenseQuery(allGroupsQuery);
  const paths = data.groups
    .map(({ uid }) => ({
      uid,
      path: data.groups
        .filter((each) => uid === each.uid || uid.startsWith(`${each.uid}/`))
        .toSorted((one, other) => one.uid.length - other.uid.length)
        .map(({ name }) => name)
        .join("/"),
    }))
    .toSorted((one, other) => one.path.localeCompare(other.path));
  return (
    <Page title="Images">
      <Row>
        <SearchBox
          label="Find images"
          placeholder="Name, tag, digest or label"
          value={q}
          minLetters={MIN_LETTERS}
          onSearch={(text) =>
            void navigate({ search: (before) => ({ ...before, q: text || undefined }), replace: true })
          }
        />
      </Row>
      <Row>
        <SelectField
          label="Group"
          value={group ?? ""}
          onChange={({ target: { value } }) =>
            void navigate({ search: (before) => ({ ...before, group: value || undefined }) })
          }
        >
          <option value="">All groups</option>
          {paths.map(({ uid, path }) => (
            <option key={uid} value={uid}>
              {path}
            </option>
          ))}
        </SelectField>
      </Row>
      {q === undefined ? (
        <RepoList group={group} order={order} groupPath={paths.find(({ uid }) => uid === group)?.path} />
      ) : (
        <>
          <p>
            What was found for <strong>{q}</strong>.{" "}
            <Link to="/images" search={group === undefined ? {} : { group }}>
              Show all images
            </Link>
          </p>
          <FoundList text={q} group={group} />
        </>
      )}
    </Page>
  );
}
