import { ApiError } from "../../../api/errors.ts";
import { loginPath } from "../../sign-in/login-path.ts";

/** A link to the sign-in, where that is what is missing. */
export function SignInAgain({ error }: { error: unknown }) {
  if (!(error instanceof ApiError) || !error.message.includes("again")) return null;
  return <a href={loginPath("/profile")}>Sign in again</a>;
}
