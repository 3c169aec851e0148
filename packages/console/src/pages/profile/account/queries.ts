import { readAccount } from "../../../api/account.ts";

/** What signs the person in. */
export const accountQuery = { queryKey: ["own account"], queryFn: readAccount };
