import { useQueryClient } from "@tanstack/react-query";
import { listFeedPresets, listFeedProblems, listFeeds } from "../../../api/gen/operations.ts";
import { collection } from "../../../api/queries.ts";

/** Reads the feeds again after a change. */
export function useFeedsChanged(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await Promise.all(
      [listFeeds, listFeedPresets, listFeedProblems].map((method) =>
        client.invalidateQueries({ queryKey: [collection(method)] }),
      ),
    );
  };
}
