import { signOut } from "../api/session.ts";

/** Ends the session and forgets what was read in it: the page is loaded anew. */
export async function leave(): Promise<void> {
  await signOut();
  window.location.assign("/login");
}
