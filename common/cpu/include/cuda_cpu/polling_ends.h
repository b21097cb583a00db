// As it was before polling_begins.h.
#pragma pop_macro("__atomic_load")
#pragma pop_macro("__atomic_exchange")
#pragma pop_macro("__atomic_compare_exchange")
#pragma pop_macro("sched_yield")
#pragma pop_macro("nanosleep")
