import { Link } from "@tanstack/react-router";
import { NAV } from "./nav.ts";
import styles from "./shell.module.css";

/** The navigation at the side; on narrow screens it is opened by a button. */
export function Side({ isOpen }: { isOpen: boolean }) {
  return (
    <nav className={styles.side} data-open={isOpen || undefined} aria-label="Pages">
      {NAV.map(({ label, items }) => (
        <div key={label} className={styles.group}>
          <h2>{label}</h2>
          <ul>
            {items.map(({ to, label: text }) => (
              <li key={to}>
                <Link to={to} search={ofGroup} activeOptions={{ exact: hasBelow(to), includeSearch: false }}>
                  {text}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** The group that is looked at goes along to the other pages; those that are not about groups drop it. */
function ofGroup({ group }: { group?: string }): { group?: string } {
  return group === undefined ? {} : { group };
}

/** Whether another page of the navigation stands below this one: then only this page itself is marked as it. */
function hasBelow(to: string): boolean {
  const below = to === "/" ? to : `${to}/`;
  return NAV.some(({ items }) => items.some((item) => item.to !== to && item.to.startsWith(below)));
}
