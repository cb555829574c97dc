from .. import (
    evaluate as evaluate,
    get_num_threads as get_num_threads,
    re_evaluate as re_evaluate,
    set_num_threads as set_num_threads,
    validate as validate,
)
from . import expressions as expressions, necompiler as necompiler, utils as utils
from .expressions import E as E
from .necompiler import NumExpr as NumExpr, disassemble as disassemble
from .utils import (
    MAX_THREADS as MAX_THREADS,
    detect_number_of_cores as detect_number_of_cores,
    detect_number_of_threads as detect_number_of_threads,
    get_vml_num_threads as get_vml_num_threads,
    get_vml_version as get_vml_version,
    set_vml_accuracy_mode as set_vml_accuracy_mode,
    set_vml_num_threads as set_vml_num_threads,
    use_vml as use_vml,
)

__version__: str
ncores: int
nthreads: int
