import { useQueryClient } from "@tanstack/react-query";

/**
 * Reads everything about access again after a change: a group, a role or a binding changes what may be seen and done
 * elsewhere.
 */
export function useChanged(): () => Promise<void> {
  const client = useQueryClient();
  return () =>
    client.invalidateQueries({
      predicate: ({ queryKey: [first] }) => typeof first === "string" && first.startsWith("/iam/"),
    });
}
