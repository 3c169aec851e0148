import { useQuery } from "@tanstack/react-query";
import { search } from "../api/gen/registry.ts";
import { query } from "../api/queries.ts";
import { nearestOf } from "./nearest.ts";

const MAX_NAMES = 100;
const MIN_LETTERS = 2;

/** The image that was meant, as far as its name says; nothing without one. */
export function NearestImage({ name }: { name: string }) {
  const [path = ""] = name.split(/[:@]/);
  const group = path.slice(0, path.lastIndexOf("/") + 1);
  const { data } = useQuery({
    ...query(search, { query: group, kinds: ["SEARCH_KIND_REPO"], pageSize: MAX_NAMES }),
    enabled: group.length >= MIN_LETTERS,
    retry: false,
  });
  const nearest = nearestOf(path, data?.results.map((each) => each.name) ?? []);
  if (nearest === undefined || nearest === path) return null;
  return (
    <>
      {" "}
      Did you mean <a href={`/repo?name=${encodeURIComponent(nearest)}`}>{nearest}</a>?
    </>
  );
}
