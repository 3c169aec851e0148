import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { getRepo, type RepoInput, updateRepo } from "../../api/gen/registry.ts";
import { collection } from "../../api/queries.ts";
import { say } from "../../ui/toasts.tsx";

/** A change of a repo: the new values of the fields, and which fields. AIP-134. */
export interface RepoChange {
  fields: RepoInput;
  mask: string;
}

/** Changes fields of the repo, and says that it did. */
export function useSave(uid: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ fields, mask }: RepoChange) => call(updateRepo, { repo: { ...fields, uid }, updateMask: mask }),
    onSuccess: async () => {
      say("Saved");
      await client.invalidateQueries({ queryKey: [collection(getRepo)] });
    },
  });
}
