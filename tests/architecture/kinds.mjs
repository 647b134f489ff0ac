// The kinds of events that the pages know, as JSON for test_event_kinds.py.
import { KIND } from "../../static/js/run/kinds.js";

console.log(JSON.stringify(KIND));
